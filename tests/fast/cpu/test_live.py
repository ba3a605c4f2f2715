"""Live windows against the plain network on many shapes, and against windows scored whole."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from axonad import AxonAD, load
from axonad.fast.cpu import live as live_module
from axonad.fast.cpu.live import LiveNet, LivePass
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from tests.conftest import SMALL, waves

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


def make_pass(net: AxonNet, x: torch.Tensor) -> LivePass:
    live = LiveNet(net)
    every, last = (kept.unflatten(0, x.shape[:2]) for kept in live.rows(x.flatten(0, 1)))
    return LivePass(live, every.contiguous(), last[:, -live.last_steps :].contiguous())


def check(net: AxonNet, x: torch.Tensor) -> None:
    found_pass = make_pass(net, x)
    output = found_pass.forward()
    expected = net.double()(x.double())
    last = net.config.scored_steps
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
    run = make_pass(net, x)
    kept, found = (run.every.clone(), run.last.clone()), []
    for order in ([0, 1], [1, 0], [0, 1]):
        run.every.copy_(kept[0][order])
        run.last.copy_(kept[1][order])
        found.append([part.clone() for part in run.forward()])
    for first, second, third in zip(*found, strict=True):
        assert torch.equal(first, third)
        torch.testing.assert_close(first, second.flip(0))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_more_slots_than_a_pass_holds(fitted, monkeypatch, threads):
    monkeypatch.setattr(live_module, "CPU_BATCH", 3)
    live = fitted.live_windows()
    series = [waves(16, seed=seed) for seed in range(7)]
    for slot, X in enumerate(series):
        live.load(slot, X)
    close(live.score(list(range(7)))[0], [fitted.score_ends(X)[0][0] for X in series])


def by_pickle(detector):
    return pickle.loads(pickle.dumps(detector))  # noqa: S301


@pytest.mark.parametrize("duplicate", [copy.deepcopy, by_pickle])
def test_live_net_are_shared_and_never_copied(duplicate):
    detector = AxonAD(**SMALL).fit(waves(100))
    live = detector.live_windows()
    assert detector.live_windows(live) is live
    assert detector.live_windows().net is live.net
    twin = duplicate(detector)
    assert not hasattr(twin, "_live_net")
    assert twin.live_windows(live) is not live


def test_streams_of_one_detector_share_their_working_memory():
    detector = AxonAD(**SMALL).fit(waves(100))
    X = waves(40, seed=3)
    streams = [detector.live_windows() for _ in range(5)]
    for i, live in enumerate(streams):
        live.load(0, X[i : i + 16])
    scores = [live.score([0])[0][0] for live in streams]
    assert len(streams[0].net.idle_passes) == 1
    close(scores, detector.score_ends(X[:20])[0])


def test_a_loaded_detector_scores_as_the_saved_one(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    live, X = load(tmp_path / "model").live_windows(), waves(16, seed=5)
    live.load(0, X)
    scores, terms = live.score([0])
    assert scores.shape == terms["d_q"].shape == (1,)
    close(scores, fitted.score_ends(X)[0])


def test_a_new_fit_makes_new_live_net():
    detector = AxonAD(**SMALL).fit(waves(100))
    live = detector.live_windows()
    detector.fit(waves(120, seed=4))
    fresh = detector.live_windows(live)
    assert fresh is not live
    X = waves(16, seed=5)
    fresh.load(0, X)
    close(fresh.score([0])[0], detector.score_ends(X)[0])
