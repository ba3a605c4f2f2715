"""The folded network against the plain one, on many shapes."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.live import LiveNet
from axonad.fast.cpu.live_pass import LivePass
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet

BASE = {
    "channels": 3, "window": 40, "d_model": 16, "heads": 2, "horizon": 1, "tail": 4, "ema": 0.9,
    "dropout": 0.1, "dilations": (1, 2, 4, 8),
}  # fmt: skip


def make_net(seed=0, spread=0.1, **changes) -> AxonNet:
    """Return a network whose every weight, norms and target included, is its own."""
    torch.manual_seed(seed)
    net = AxonNet(NetConfig(**{**BASE, **changes})).eval().requires_grad_(False)
    for weight in net.parameters():
        weight.add_(torch.randn_like(weight) * spread)
    return net


def run_live(net: AxonNet, x: torch.Tensor):
    live = LiveNet(net)
    run = LivePass(live, len(x))
    kept = live.keep(x)
    run.every.copy_(kept.every + live.places.every)
    run.last.copy_(kept.last[:, -live.tail :] + live.places.last)
    return run, run()


def check(net: AxonNet, x: torch.Tensor) -> None:
    run, output = run_live(net, x)
    expected = net.double()(x.double())
    last = net.config.scored_steps
    assert torch.equal(run.rows, x)
    for name, found in output._asdict().items():
        truth = getattr(expected, name)
        truth = truth if name == "reconstruction" else truth[:, :, -last:]
        assert found.shape == truth.shape
        size = truth.abs().mean()
        torch.testing.assert_close(found.double(), truth, rtol=1e-5, atol=1e-5 * float(size))


@pytest.mark.parametrize("window", [2, 5, 16, 33, 100])
@pytest.mark.parametrize("horizon", [0, 1, 4])
@pytest.mark.parametrize("tail", [1, 4, 200])
def test_window_horizon_and_tail(window, horizon, tail):
    horizon, tail = min(horizon, window - 1), min(tail, window)
    check(make_net(window=window, horizon=horizon, tail=tail), torch.randn(2, window, 3))


@pytest.mark.parametrize("dilations", [(1,), (3,), (1, 1), (8, 4, 2, 1), (1, 2, 4, 8, 16), (30, 2)])
@pytest.mark.parametrize("window", [8, 40])
def test_dilations(dilations, window):
    check(make_net(window=window, dilations=dilations), torch.randn(2, window, 3))


@pytest.mark.parametrize(("d_model", "heads"), [(8, 1), (8, 8), (24, 3), (128, 8)])
@pytest.mark.parametrize("channels", [1, 7, 8, 19, 70])
def test_widths_and_channels(d_model, heads, channels):
    net = make_net(d_model=d_model, heads=heads, channels=channels)
    check(net, torch.randn(3, 40, channels))


@pytest.mark.parametrize("size", [1e-6, 1e3, 1e12])
def test_rows_of_any_size(size):
    check(make_net(), torch.randn(1, 40, 3) * size)


def test_large_logits_take_the_safe_way():
    net = make_net()
    net.online.query.weight *= 100
    check(net, torch.randn(2, 40, 3))


def test_a_pass_can_be_used_again():
    net, x = make_net(), torch.randn(2, 40, 3)
    live = LiveNet(net)
    run = LivePass(live, 2)
    found = []
    for windows in (x, x.flip(0), x):
        kept = live.keep(windows)
        run.every.copy_(kept.every + live.places.every)
        run.last.copy_(kept.last[:, -live.tail :] + live.places.last)
        found.append([part.clone() for part in run()])
    for first, second, third in zip(*found, strict=True):
        assert torch.equal(first, third)
        torch.testing.assert_close(first, second.flip(0))
