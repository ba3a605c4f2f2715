"""The network against naive twins, and the promises that make its score mean anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.errors import ConfigError
from axonad.model.config import NetConfig
from axonad.model.loss import WeightedLoss, masked_mean, query_distance
from axonad.model.net import AxonNet
from axonad.torch_runtime.windows import gather_windows
from tests.model import naive


def make_net(seed=0, **changes) -> AxonNet:
    settings = {
        "channels": 3, "window": 20, "d_model": 8, "heads": 2, "horizon": 1, "tail": 5,
        "ema": 0.9, "dropout": 0.1, "dilations": (1, 2, 4),
    }  # fmt: skip
    torch.manual_seed(seed)
    net = AxonNet(NetConfig(**{**settings, **changes}))
    with torch.no_grad():  # a target unlike the online encoder, so that mixing them up shows
        for p in net.target.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return net.eval()


def window(net, seed=1, batch=2):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, net.config.window, net.config.channels, generator=generator)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_reconstruction_equals_naive_twin(heads):
    net = make_net(heads=heads)
    x = window(net)
    expected = np.stack([naive.reconstruct(w, net) for w in x.double().numpy()])
    np.testing.assert_allclose(net(x).reconstruction.detach(), expected, atol=1e-5)


@pytest.mark.parametrize("horizon", [0, 1, 3, 7])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 4, 8)])
def test_predictor_equals_naive_twin(horizon, dilations):
    net = make_net(horizon=horizon, dilations=dilations)
    _, H, _ = net.online(window(net))
    predicted = net.predictor(H).detach()  # (B, N, T, d)
    merged = predicted.transpose(1, 2).flatten(2)
    for i in range(len(merged)):
        expected = naive.predict_queries(H[i].detach().double().numpy(), net.predictor)
        np.testing.assert_allclose(merged[i], expected, atol=1e-5)


@pytest.mark.parametrize("horizon", [1, 2, 5])
@pytest.mark.parametrize("changed", [0, 7, 19])
def test_predictor_never_sees_the_future(horizon, changed):
    """A change at step t moves no prediction up to t + s - 1, and moves the one at t + s."""
    net = make_net(horizon=horizon)
    x = window(net, batch=1)
    other = x.clone()
    other[0, changed] += 1.0
    before, after = net(x).predicted[0], net(other).predicted[0]
    moved = (before - after).abs().amax(dim=(0, 2)) > 0
    assert not moved[: changed + horizon].any()
    if changed + horizon < net.config.window:
        assert moved[changed + horizon]


def test_reconstruction_sees_the_whole_window():
    net = make_net()
    x = window(net, batch=1)
    other = x.clone()
    other[0, -1] += 1.0
    assert (net(x).reconstruction - net(other).reconstruction)[0, 0].abs().max() > 0


def test_target_starts_as_a_copy_of_the_online_encoder():
    net = AxonNet(make_net().config)
    for slow, fast in zip(net.target.parameters(), net.online.parameters(), strict=True):
        assert torch.equal(slow, fast)


def test_target_gets_no_gradient_and_online_does():
    net = make_net().train()
    loss = WeightedLoss()
    x = window(net)
    output = net(x)
    assert not output.target.requires_grad
    loss(output, x, torch.ones(len(x), net.config.window)).backward()
    assert all(p.grad is None and not p.requires_grad for p in net.target.parameters())
    assert all(p.grad is not None for p in net.online.parameters())
    assert all(p.grad is not None for p in net.predictor.parameters())


def test_query_loss_reaches_the_shared_embedding():
    """The predictor's gradient flows into the embedding; it is not detached."""
    net = make_net()
    x = window(net)
    output = net(x)
    query_distance(output.predicted, output.target).mean().backward()
    assert net.online.embed.weight.grad.abs().max() > 0
    assert net.online.query.weight.grad is None  # the online queries are not part of it


def test_target_update_is_the_moving_average():
    net = make_net(ema=0.9)
    slow = [p.clone() for p in net.target.parameters()]
    net.target.update(net.online)
    for new, old, fast in zip(net.target.parameters(), slow, net.online.parameters(), strict=True):
        torch.testing.assert_close(new, 0.9 * old + 0.1 * fast)


def test_target_holds_embedding_position_norm_and_query_projection_only():
    names = {name for name, _ in make_net().target.encoder.named_parameters()}
    assert names == {
        "embed.weight", "embed.bias", "position", "norm.weight", "norm.bias", "query.weight",
    }  # fmt: skip


def test_loss_is_the_weighted_sum():
    net = make_net()
    x = window(net)
    output = net(x)
    mask = torch.zeros(len(x), net.config.window)
    mask[:, 12:15] = 1
    loss = WeightedLoss()
    with torch.no_grad():
        loss.log_variance.copy_(torch.tensor([0.5, -0.25]))
    mse = (output.reconstruction - x).square().mean()
    query = query_distance(output.predicted, output.target)[:, 12:15].mean()
    expected = np.exp(-0.5) * mse + 0.5 + np.exp(0.25) * query - 0.25
    torch.testing.assert_close(loss(output, x, mask), expected)


def test_query_loss_counts_masked_steps_only():
    torch.manual_seed(0)
    predicted, target = torch.randn(2, 2, 6, 4), torch.randn(2, 2, 6, 4)
    mask = torch.zeros(2, 6)
    mask[0, 1] = mask[1, 4] = 1
    loss = masked_mean(query_distance(predicted, target), mask)
    expected = [
        naive.cosine_distance(predicted[b, h, t].numpy(), target[b, h, t].numpy())
        for b, t in ((0, 1), (1, 4))
        for h in range(2)
    ]
    assert float(loss) == pytest.approx(np.mean(expected), abs=1e-6)


def test_zero_queries_give_a_finite_distance():
    zero = torch.zeros(1, 1, 2, 4)
    assert query_distance(zero, zero).tolist() == [[1.0, 1.0]]


def test_windows_are_gathered_in_order():
    series = torch.arange(12.0).reshape(6, 2)
    got = gather_windows(series, torch.tensor([3, 0]), 3)
    assert got[0].tolist() == series[3:6].tolist()
    assert got[1].tolist() == series[0:3].tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 100, "heads": 8}, r"heads \(8\) must divide d_model \(100\)"),
        ({"horizon": 20}, r"horizon must be below window \(20\), got 20"),
        ({"tail": 21}, r"tail must be at most window \(20\), got 21"),
    ],
)
def test_impossible_sizes_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        make_net(**changes)


@pytest.mark.parametrize("steps", [1, 10, 59, 60])
def test_the_last_steps_alone_equal_those_of_the_whole_window(steps):
    net = make_net(window=60)
    x = window(net)
    with torch.no_grad():
        part, full = net(x, last=steps), net(x)
    for name in ("predicted", "target"):
        expected = getattr(full, name)[:, :, -steps:]
        torch.testing.assert_close(getattr(part, name), expected, rtol=1e-5, atol=1e-6)
