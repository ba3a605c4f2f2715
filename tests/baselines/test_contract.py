"""What all baselines of a kind promise beside the checks of :mod:`axonad.testing`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import axonad
from axonad.errors import ConfigError
from axonad.registry import detector_class
from axonad.testing import CHECKS
from tests.baselines import naive
from tests.baselines.detectors import FORECASTERS, LAST_ROW, NEURAL, VARIATIONAL, make_quick
from tests.conftest import waves
from tests.quick import QUICK

# -- training and scoring ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NEURAL)
def test_series_of_a_single_window(name):
    detector = make_quick(name)
    X = waves(max(detector.history, 2))  # a single row has nothing to learn from
    assert len(detector.fit(X).decision_function(X)) == len(X)
    assert detector.training_.validation == []


@pytest.mark.parametrize("name", NEURAL)
def test_scores_are_those_of_windows_one_by_one(name):
    detector = make_quick(name, **({"adapt": False} if name == "M2N2" else {})).fit(waves(200))
    X = waves(50, seed=1)
    z = torch.from_numpy(detector._scaler.apply(X))
    with torch.no_grad():
        expected = [
            detector._window_score(detector._net, z[None, i : i + detector.history]).mean().item()
            for i in range(50 - detector.history + 1)
        ]
    np.testing.assert_allclose(detector._score_ends(X)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NEURAL)
def test_a_broken_channel_is_ranked_and_named(name):
    detector = make_quick(name, epochs=6, patience=6, lr=1e-2).fit(waves(500))
    X = waves(300, seed=1)
    X[150:180, 1] += 5.0
    scores = detector.decision_function(X)
    calm = np.r_[scores[:120], scores[210:]]
    assert scores[145:195].max() > calm.max()
    blame = detector.explain(X).blame
    assert blame is not None
    assert blame[150:180].mean(axis=0).argmax() == 1


@pytest.mark.parametrize("name", NEURAL)
def test_training_lowers_the_error(name):
    X = waves(300)
    short = make_quick(name, epochs=1, lr=1e-6).fit(X)
    long = make_quick(name, epochs=8, patience=8, lr=1e-2).fit(X)
    assert long.decision_scores_.mean() < short.decision_scores_.mean()


@pytest.mark.parametrize("name", NEURAL)
def test_contract_in_parity_mode(name):
    cls = detector_class(name)
    params = {**cls.parity, **QUICK[name]}
    for check in ("scores_are_finite_one_per_row", "saved_is_the_same", "same_seed_same_scores"):
        CHECKS[check](lambda: cls(**params))


@pytest.mark.parametrize("name", ["GDN", "TFTResidual", *LAST_ROW[4:], *VARIATIONAL])
def test_large_values_stay_finite(name):
    X = waves(200)
    X[:, 2] = 0.0
    detector = make_quick(name, scaling="train").fit(X)
    large = waves(60, seed=1)
    large[30, 2] = 1e6  # 1e14 units of a channel that was constant in training
    assert np.isfinite(detector.decision_function(large)).all()


@pytest.mark.parametrize("name", [*FORECASTERS, *LAST_ROW])
def test_the_score_is_that_of_the_last_row(name):
    detector = make_quick(name, **({"adapt": False} if name == "M2N2" else {})).fit(waves(400))
    X = waves(200, seed=1)
    spiked = X.copy()
    spiked[100] += 20.0
    change = detector.decision_function(spiked) - detector.decision_function(X)
    assert np.flatnonzero(np.abs(change) > 1e-3)[0] == 100
    if name != "AnomalyTransformer":  # its weight of a row also depends on the neighbouring rows
        assert np.argmax(change) == 100


@pytest.mark.parametrize("name", [*VARIATIONAL, "OmniAnomaly", "Donut"])
def test_scoring_draws_no_random_numbers(name):
    detector = make_quick(name).fit(waves(200))
    before = torch.get_rng_state()
    detector.decision_function(waves(60))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NEURAL)
def test_gpu_and_cpu_agree(name):
    """With enough windows for CUDA graphs in training and in scoring."""
    X = waves(6000)
    detector = make_quick(name, device="cuda", epochs=2, batch_size=64).fit(X)
    found = detector.decision_function(X)
    detector.set_params(device="cpu")
    np.testing.assert_allclose(found, detector.decision_function(X), rtol=0.02, atol=0.02)


# -- losses ------------------------------------------------------------------------------------

CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in naive.TWINS),
    ("TFTResidual", {"dropout": 0.0}),
    ("TFTResidual", {"width": 1, "heads": 1}),  # scalar embeddings need no shortcut layer
]


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize(("name", "changes"), CASES)
def test_losses_and_gradients_are_those_of_the_naive_network(name, changes, channels):
    detector = make_quick(name, **changes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = detector._build(channels).double()
        x = torch.randn(9, 12, channels, dtype=torch.float64)
        found = []
        for loss in (detector._loss, lambda net, x, _: naive.TWINS[name](detector, net, x)):
            torch.manual_seed(1)  # the same random numbers for both
            net.zero_grad()
            value = loss(net.train(), x, naive.EPOCH)
            value.backward()
            grads = (torch.zeros_like(w) if w.grad is None else w.grad for w in net.parameters())
            found.append([value.detach(), *grads])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


CHANGES_EVERY_EPOCH = ("USAD", "TranAD")
UNBUILT = ("OFA",)  # its network needs weights that fit reads


@pytest.mark.parametrize("name", sorted({*NEURAL} - {*CHANGES_EVERY_EPOCH, *UNBUILT}))
def test_epochs_of_equal_factor_have_equal_losses(name):
    """A captured CUDA graph is replayed while the epoch factor is the same."""
    detector = make_quick(name)
    torch.manual_seed(0)
    net, x = detector._build(3).train(), torch.rand(4, detector.history, 3)

    def loss(epoch):
        torch.manual_seed(1)
        return float(detector._loss(net, x, epoch).detach())

    pairs = [(1, 2), (2, 9), (30, 31), (40, 50)]
    same = [(a, b) for a, b in pairs if detector._epoch_factor(a) == detector._epoch_factor(b)]
    assert same
    for first, second in same:
        assert loss(first) == pytest.approx(loss(second), rel=1e-6), (first, second)


@pytest.mark.parametrize("name", ["WVAE", "VSVAE", *CHANGES_EVERY_EPOCH])
def test_a_loss_that_changes_with_the_epoch_has_a_factor_that_does(name):
    detector = make_quick(name)
    assert detector._epoch_factor(1) != detector._epoch_factor(2)


def test_the_factor_of_mavae_changes_after_the_first_cycle():
    detector = make_quick("MAVAE")
    assert detector._epoch_factor(1) == detector._epoch_factor(20)
    assert detector._epoch_factor(30) != detector._epoch_factor(31)


# -- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("CNN", {"window": 0}, "window must be at least 1, got 0"),
        ("CNN", {"window": 3}, r"window \(3\) is too short for 2 convolutions"),
        ("CNN", {"widths": 3}, "widths must be a tuple of integers"),
        ("CNN", {"scaling": "row"}, "scaling must be one of .* got 'row'; did you mean 'raw'"),
        ("CNN", {"align": "middle"}, "align must be one of 'center', 'end', 'start'"),
        ("CNN", {"device": 1}, "device must be a name"),
        ("CNN", {"lr": 0.0}, "lr must be above 0, got 0.0"),
        ("AutoEncoder", {"hidden": (0,)}, "hidden must be at least 1, got 0"),
        ("AutoEncoder", {"dropout": 1.0}, "dropout must be below 1"),
        ("LSTMAD", {"layers": 0}, "layers must be at least 1"),
        ("USAD", {"alpha": 2.0}, "alpha must be at most 1"),
        ("USAD", {"tsb_ad": 1}, "tsb_ad must be True or False, got 1"),
        ("OmniAnomaly", {"beta": -1.0}, "beta must be at least 0"),
        ("Donut", {"missing": 1.0}, "missing must be below 1"),
        (
            "FITS",
            {"factor": 3},
            r"window \(100\) must be a multiple of factor \(3\)",
        ),
        ("FITS", {"cutoff": 14}, "cutoff must be at most 13 with window 100 and factor 4, got 14"),
        ("M2N2", {"momentum": 1.1}, "momentum must be at most 1"),
        ("M2N2", {"adapt": 1}, "adapt must be True or False"),
        ("TimesNet", {"top": 49}, "top must be at most 48, got 49"),
        ("TimesNet", {"kernels": 0}, "kernels must be at least 1"),
        ("AnomalyTransformer", {"heads": 3}, r"heads \(3\) must divide width \(512\)"),
        ("AnomalyTransformer", {"discrepancy_weight": -1.0}, "discrepancy_weight must be at least"),
        ("AnomalyTransformer", {"temperature": -1.0}, "temperature must be at least 0"),
        ("GDN", {"window": 1}, "window must be at least 2"),
        ("GDN", {"top": 0}, "top must be at least 1"),
        ("TFTResidual", {"horizon": 100}, r"horizon must be below window \(100\), got 100"),
        ("TFTResidual", {"heads": 3}, r"heads \(3\) must divide width \(64\)"),
        ("TFTResidual", {"frequencies": -1}, "frequencies must be at least 0"),
        ("VASP", {"kl_weight": -1.0}, "kl_weight must be at least 0"),
        ("WVAE", {"noise": -1.0}, "noise must be at least 0"),
        ("SISVAE", {"smooth": -1.0}, "smooth must be at least 0"),
        ("MAVAE", {"heads": 3}, r"heads \(3\) must divide attention \(64\)"),
        ("VSVAE", {"attention": 0}, "attention must be at least 1"),
        ("OFA", {"weights": 3}, "weights must be the path of a folder, got 3"),
        ("OFA", {"segment": 7}, r"segment \(7\) must divide window \(50\)"),
        ("OFA", {"layers": 0}, "layers must be at least 1"),
        ("OFA", {"average": 1}, "average must be True or False"),
        ("OFA", {"dropout": 1.0}, "dropout must be below 1"),
        ("KNN", {"window": 0}, "window must be at least 1, got 0"),
        ("KNN", {"units": "rwo"}, "units must be one of .* got 'rwo'"),
        ("KNN", {"align": "start"}, "align must be one of 'center', 'end', 'mean', got 'start'"),
        ("KNN", {"method": "max"}, "method must be one of 'mean', 'median', 'largest'"),
        ("LOF", {"neighbours": 0}, "neighbours must be at least 1, got 0"),
        ("LOF", {"max_train": 1}, "max_train must be at least 2, got 1"),
        ("PCA", {"directions": 1.5}, "directions must be below 1, got 1.5"),
        ("PCA", {"directions": 0}, "directions must be at least 1, got 0"),
        ("CBLOF", {"clusters": 1}, "clusters must be at least 2, got 1"),
        ("CBLOF", {"beta": 1.0}, "beta must be above 1, got 1.0"),
        ("IForest", {"features": 1.2}, "features must be at most 1, got 1.2"),
        ("EIF", {"samples": 1}, "samples must be at least 2, got 1"),
        ("HBOS", {"bins": 1}, "bins must be at least 2, got 1"),
        ("RobustPCA", {"rounds": 0}, "rounds must be at least 1, got 0"),
        ("ControlChart", {"memory": 1.0}, "memory must be at most 0.999, got 1.0"),
        ("CrossChannelRidge", {"penalty": 0.0}, "penalty must be above 0, got 0.0"),
        ("WindowStatistics", {"lengths": 16}, "lengths must be a tuple of integers, got 16"),
        ("RandomScore", {"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_invalid_parameters_are_refused(name, params, message):
    with pytest.raises(ConfigError, match=message):
        axonad.make_detector(name, **params)
