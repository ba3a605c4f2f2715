"""What the neural baselines after the first nine promise, together and each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import axonad
from axonad.baselines import anomaly_transformer, gdn, tft_residual, times_net
from axonad.baselines._neural import NeuralDetector
from axonad.baselines._tokens import RowEmbedding, sinusoids
from axonad.errors import ConfigError
from axonad.registry import detector_class
from axonad.testing import CHECKS
from tests.baselines import naive
from tests.conftest import waves
from tests.quick import QUICK

FORECASTERS = ("GDN", "TFTResidual")
LAST_ROW = ("TimesNet", "AnomalyTransformer", "OFA")
VARIATIONAL = ("VASP", "WVAE", "SISVAE", "MAVAE", "VSVAE")
NAMES = (*FORECASTERS, *LAST_ROW, *VARIATIONAL)


def make(name: str, **changes: Any) -> NeuralDetector:
    detector = axonad.make_detector(name, **{**QUICK[name], **changes})
    assert isinstance(detector, NeuralDetector)
    return detector


# -- all of them -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_series_of_a_single_window(name):
    X = waves(12)
    assert len(make(name).fit(X).decision_function(X)) == 12


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_windows_one_by_one(name):
    detector = make(name).fit(waves(200))
    X = waves(50, seed=1)
    z = torch.from_numpy(detector._scaler.apply(X))
    with torch.no_grad():
        naive = [
            detector._window_score(detector._net, z[None, i : i + 12]).mean().item()
            for i in range(39)
        ]
    np.testing.assert_allclose(detector._score_ends(X)[0], naive, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_channel_is_ranked_and_named(name):
    detector = make(name, epochs=8, patience=8, lr=1e-2).fit(waves(500))
    X = waves(300, seed=1)
    X[150:180, 1] += 5.0
    scores = detector.decision_function(X)
    calm = np.r_[scores[:120], scores[210:]]
    assert scores[145:195].max() > calm.max()
    blame = detector.explain(X).blame
    assert blame is not None
    assert blame[145:195].max(axis=0).argmax() == 1


@pytest.mark.parametrize("name", NAMES)
def test_training_lowers_the_error(name):
    X = waves(300)
    short = make(name, epochs=1, lr=1e-6).fit(X)
    long = make(name, epochs=8, patience=8, lr=1e-2).fit(X)
    assert long.decision_scores_.mean() < short.decision_scores_.mean()


@pytest.mark.parametrize("name", NAMES)
def test_contract_in_parity_mode(name):
    cls = detector_class(name)
    quick = {**cls.parity, **QUICK[name]}
    for check in ("scores_are_finite_one_per_row", "saved_is_the_same", "same_seed_same_scores"):
        CHECKS[check](lambda: cls(**quick))


@pytest.mark.parametrize("name", NAMES)
def test_loud_values_stay_finite(name):
    X = waves(200)
    X[:, 2] = 0.0
    detector = make(name, scaling="train").fit(X)
    loud = waves(60, seed=1)
    loud[30, 2] = 1e6  # a channel that never moved in training: 1e14 units
    assert np.isfinite(detector.decision_function(loud)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_devices_agree(name):
    X, Y = waves(200), waves(60, seed=1)
    detector = make(name, device="cuda").fit(X)
    on_device = detector.decision_function(Y)
    on_host = detector.set_params(device="cpu").decision_function(Y)
    np.testing.assert_allclose(on_device, on_host, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("TimesNet", {"top": 49}, "top must be at most 48, got 49"),
        ("TimesNet", {"kernels": 0}, "kernels must be at least 1"),
        ("AnomalyTransformer", {"heads": 3}, r"heads \(3\) must divide width \(512\)"),
        ("AnomalyTransformer", {"discrepancy_weight": -1.0}, "discrepancy_weight must be at least"),
        ("AnomalyTransformer", {"temperature": -1.0}, "temperature must be at least 0"),
        ("GDN", {"window": 1}, "window must be at least 2"),
        ("GDN", {"top": 0}, "top must be at least 1"),
        ("TFTResidual", {"horizon": 100}, r"horizon must be below window \(100\), got 100"),
        ("TFTResidual", {"heads": 3}, r"heads \(3\) must divide width \(64\)"),
        ("VASP", {"kl_weight": -1.0}, "kl_weight must be at least 0"),
        ("WVAE", {"noise": -1.0}, "noise must be at least 0"),
        ("SISVAE", {"smooth": -1.0}, "smooth must be at least 0"),
        ("MAVAE", {"heads": 3}, r"heads \(3\) must divide attention \(64\)"),
        ("VSVAE", {"attention": 0}, "attention must be at least 1"),
    ],
)
def test_impossible_parameters_are_refused(name, params, message):
    with pytest.raises(ConfigError, match=message):
        axonad.make_detector(name, **params)


@pytest.mark.parametrize("name", [*FORECASTERS, *LAST_ROW])
def test_the_score_sits_at_the_row_it_is_about(name):
    detector = make(name).fit(waves(400))
    X = waves(200, seed=1)
    spiked = X.copy()
    spiked[100] += 20.0
    change = detector.decision_function(spiked) - detector.decision_function(X)
    assert np.flatnonzero(np.abs(change) > 1e-6)[0] == 100
    if name != "AnomalyTransformer":  # there a row's share in the score moves with its neighbours
        assert np.argmax(change) == 100


# -- tokens ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 5, 8])
def test_sinusoids(width):
    found = sinusoids(7, width)
    assert found.shape == (7, width)
    for t in range(7):
        for j in range(width):
            angle = t / 10_000 ** ((j - j % 2) / width)
            naive = np.sin(angle) if j % 2 == 0 else np.cos(angle)
            assert found[t, j].item() == pytest.approx(naive, abs=1e-5)


def test_tokens_go_round():
    layer = RowEmbedding(2, 4, window=6)
    x = torch.randn(1, 6, 2)
    w = layer.rows.weight
    naive = x[0, 5] @ w[:, :, 0].T + x[0, 0] @ w[:, :, 1].T + x[0, 1] @ w[:, :, 2].T
    torch.testing.assert_close(layer(x)[0, 0], naive + layer.position[0])


# -- TimesNet ----------------------------------------------------------------------------------


def test_each_window_has_its_own_periods():
    rows = torch.arange(96.0)
    x = torch.stack([torch.sin(2 * torch.pi * rows / p) for p in (12, 32)])[..., None]
    frequency, _ = times_net.strongest_frequencies(x, 1)
    assert (96 // frequency[:, 0]).tolist() == [12, 32]
    noise = torch.randn(5, 96, 3)
    frequency, amplitude = times_net.strongest_frequencies(noise, 3)
    assert frequency.min() >= 1, "the mean is no period"
    naive = torch.fft.rfft(noise[2], dim=0).abs().mean(-1)
    torch.testing.assert_close(amplitude[2], naive[frequency[2]])


def test_a_block_adds_each_period_by_its_amplitude():
    block = times_net.TimesBlock(4, hidden=3, top=2, kernels=2)
    x = torch.randn(6, 20, 4)
    frequency, amplitude = times_net.strongest_frequencies(x, 2)
    for i, share in enumerate(amplitude.softmax(1)):
        parts = [naive.folded(block, x[i], 20 // f) for f in frequency[i].tolist()]
        expected = x[i] + share[0] * parts[0] + share[1] * parts[1]
        torch.testing.assert_close(block(x)[i], expected, rtol=1e-4, atol=1e-5)


def test_timesnet_passes_level_and_size_through():
    net = make("TimesNet")._build(3).eval()
    x = torch.randn(4, 12, 3)
    torch.testing.assert_close(net(7 * x + 100), 7 * net(x) + 100, rtol=1e-3, atol=1e-3)


# -- AnomalyTransformer ------------------------------------------------------------------------


def test_prior_associations_are_gaussians_around_each_row():
    sigma = torch.randn(2, 3, 9)
    squares = anomaly_transformer.squared_distances(9)
    prior = anomaly_transformer.prior_association(sigma, squares)
    torch.testing.assert_close(prior.sum(-1), torch.ones(2, 3, 9))
    assert torch.equal(prior.argmax(-1), torch.arange(9).expand(2, 3, 9))
    width = 3 ** (torch.sigmoid(5 * sigma[0, 0, 4]) + 1e-5) - 1
    naive = torch.exp(-((torch.arange(9) - 4.0) ** 2) / (2 * width**2))
    torch.testing.assert_close(prior[0, 0, 4], naive / naive.sum())


def test_both_associations_sum_to_one_and_agree_with_themselves():
    net = make("AnomalyTransformer")._build(3)
    _, found = net(torch.randn(2, 12, 3))
    for series, prior in found:
        torch.testing.assert_close(series.sum(-1), torch.ones(2, 2, 12))
        torch.testing.assert_close(prior.sum(-1), torch.ones(2, 2, 12))
        same = anomaly_transformer.discrepancy(series, series)
        torch.testing.assert_close(same, torch.zeros(2, 12))
        assert (anomaly_transformer.discrepancy(series, prior) > 0).all()


def test_temperature_sets_how_much_attention_counts():
    detector = make("AnomalyTransformer", temperature=0.0)
    net = detector._build(3).eval()
    x = torch.randn(4, 12, 3)
    back, found = net(x)
    error = (back - x)[:, -1].square()
    torch.testing.assert_close(detector._window_score(net, x), error / 12)
    distance = anomaly_transformer.discrepancy(*found[0])
    share = torch.softmax(-2 * distance, dim=-1)[:, -1:]
    detector.set_params(temperature=2.0)
    torch.testing.assert_close(detector._window_score(net, x), share * error)


def test_training_is_a_minimax():
    detector = make("AnomalyTransformer", discrepancy_weight=3.0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = detector._build(3)
        x = torch.randn(8, 12, 3)
    detector._loss(net.train(), x, 1).backward()
    layer = net.layers[0]
    before = layer.sigma.weight.grad.clone(), layer.projection.weight.grad.clone()
    net.zero_grad()
    back, found = net(x)
    error = torch.nn.functional.mse_loss(back, x)
    distance = anomaly_transformer.discrepancy(*found[0]).mean()
    (towards,) = torch.autograd.grad(distance, layer.sigma.weight, retain_graph=True)
    torch.testing.assert_close(before[0], 3 * towards, rtol=1e-4, atol=1e-6)
    away, = torch.autograd.grad(
        2 * error - 3 * distance, layer.projection.weight, retain_graph=True
    )  # fmt: skip
    torch.testing.assert_close(before[1], away, rtol=1e-4, atol=1e-6)


# -- GDN ---------------------------------------------------------------------------------------


def test_the_graph_has_the_nearest_others():
    vectors = torch.randn(7, 4)
    graph = gdn.neighbours(vectors, 3)
    assert graph.sum(1).tolist() == [3] * 7
    assert not graph.diagonal().any()
    cosine = torch.nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    for i in range(7):
        others = [j for j in range(7) if j != i]
        nearest = sorted(others, key=lambda j: -cosine[i, j])[:3]
        assert set(torch.nonzero(graph[i])[:, 0].tolist()) == set(nearest)
    assert gdn.neighbours(vectors[:3], 15).sum(1).tolist() == [2, 2, 2]
    assert not gdn.neighbours(vectors[:1], 15).any()


def test_graph_attention_sums_to_one_over_neighbours_and_itself():
    layer = gdn.GraphAttention(5, 4)
    vectors = torch.randn(6, 4)
    graph = gdn.neighbours(vectors, 2)
    features = torch.randn(3, 6, 4)
    share = layer.weights(features, vectors, graph)
    torch.testing.assert_close(share.sum(-1), torch.ones(3, 6))
    assert ((share > 0).sum(-1) == 3).all()
    i = 2
    allowed = [j for j in range(6) if graph[i, j] or j == i]
    a = torch.cat([layer.receiver.weight, layer.sender.weight], dim=1)[0]
    g = torch.cat([vectors, features[0]], dim=1)
    logits = torch.stack([a @ torch.cat([g[i], g[j]]) for j in allowed])
    naive = torch.softmax(torch.nn.functional.leaky_relu(logits, 0.2), 0)
    torch.testing.assert_close(share[0, i, allowed], naive)


def test_a_channel_hears_its_neighbours_alone():
    layer, vectors = gdn.GraphAttention(11, 4), torch.randn(6, 4)
    graph = gdn.neighbours(vectors, 2)
    x = torch.randn(4, 6, 11)
    strangers = ~graph[0]
    strangers[0] = False
    changed = x.clone()
    changed[:, strangers] = 5.0
    before = layer(x, vectors, graph)[:, 0]
    torch.testing.assert_close(layer(changed, vectors, graph)[:, 0], before)
    changed[:, graph[0]] = 5.0
    assert not torch.allclose(layer(changed, vectors, graph)[:, 0], before)


@pytest.mark.parametrize(("layers", "count"), [(1, 1), (2, 2), (4, 4)])
def test_gdn_output_network(layers, count):
    net = gdn.Net(3, 11, top=2, width=4, hidden=5, layers=layers)
    linear = [layer for layer in net.output if isinstance(layer, torch.nn.Linear)]
    assert len(linear) == count
    assert net(torch.randn(2, 11, 3)).shape == (2, 3)


# -- TFTResidual -------------------------------------------------------------------------------


def test_pinball_is_smallest_at_the_quantiles():
    y = torch.linspace(0, 1, 1001)[:, None]
    at = torch.tensor(tft_residual.QUANTILES)[:, None].expand(1001, 3, 1)
    best = tft_residual.pinball(at, y)
    for shift in (-0.05, 0.05):
        assert tft_residual.pinball(at + shift, y) > best
    median = tft_residual.pinball(torch.full((1, 3, 1), 2.0), torch.tensor([[5.0]]))
    assert median.item() == pytest.approx(3 * np.mean(tft_residual.QUANTILES))


def test_tft_never_sees_the_rows_it_forecasts():
    detector = make("TFTResidual", horizon=3).fit(waves(300))
    X = waves(12, seed=1)
    x = torch.from_numpy(detector._scaler.apply(X))[None]
    with torch.no_grad():
        quantiles = detector._net(x[:, :9])
    assert quantiles.shape == (1, 3, 3, 3)
    expected = (x[0, -1] - quantiles[0, -1, 1]).abs().mean().item()
    assert detector.decision_function(X)[0] == pytest.approx(expected, rel=1e-5)
    other = X.copy()
    other[9:11] = 7.0  # forecast rows before the last make no difference to its score
    np.testing.assert_allclose(
        detector.decision_function(other), detector.decision_function(X), rtol=1e-6
    )


def test_attention_of_heads_is_averaged_and_looks_back():
    layer = tft_residual.Attention(4, 2, dropout=0.0)
    x = torch.randn(1, 6, 4)
    q, k, v = (part(x)[0] for part in (layer.query, layer.key, layer.value))
    naive = []
    for t in (3, 4, 5):
        share = sum(
            torch.softmax(k[: t + 1, head] @ q[t, head] / 2**0.5, dim=0) / 2
            for head in (slice(0, 2), slice(2, 4))
        )
        naive.append(layer.out(share @ v[: t + 1]))
    torch.testing.assert_close(layer(x, 3)[0], torch.stack(naive))


def test_per_variable_layers_are_linear_layers_side_by_side():
    layer = tft_residual.PerVariable(3, 4, 5)
    x = torch.randn(3, 2, 4)
    naive = torch.stack([x[i] @ layer.weight[i] + layer.bias[i] for i in range(3)])
    torch.testing.assert_close(layer(x), naive)


def test_positions_of_a_window():
    found = tft_residual.positions(5, 2)
    assert found.shape == (5, 5)
    torch.testing.assert_close(found[:, 0], torch.linspace(0, 1, 5))
    torch.testing.assert_close(
        found[1], torch.tensor([0.25, 1.0, 0.0, 0.0, -1.0]), atol=1e-6, rtol=0
    )
