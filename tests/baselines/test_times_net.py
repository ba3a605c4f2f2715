"""TimesNet's periods and images."""

from __future__ import annotations

import pytest
import torch

from axonad.baselines import times_net
from tests.baselines import naive
from tests.baselines.detectors import make_quick


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
    net = make_quick("TimesNet")._build(3).eval()
    x = torch.randn(4, 12, 3)
    torch.testing.assert_close(net(7 * x + 100), 7 * net(x) + 100, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("way", ["_at_once", "_one_by_one"])
@pytest.mark.parametrize(("rows", "kernels"), [(20, 2), (25, 4), (7, 1), (2, 3)])
def test_folding_by_periods_is_the_naive_one(way, rows, kernels):
    top = max(1, rows // 4)
    block = times_net.TimesBlock(4, hidden=3, top=top, kernels=kernels).double()
    x = torch.randn(6, rows, 4, dtype=torch.float64, requires_grad=True)
    period = rows // torch.randint(1, rows // 2 + 1, (6, top))
    found = getattr(block, way)(x, period)
    twin = torch.stack(
        [
            torch.stack([naive.folded(block, window, length) for length in lengths])
            for window, lengths in zip(x, period.tolist(), strict=True)
        ]
    )
    torch.testing.assert_close(found, twin, rtol=1e-9, atol=1e-12)
    weights, aim = [x, *block.parameters()], torch.randn_like(twin)
    for ours, theirs in zip(
        torch.autograd.grad((aim * found).sum(), weights),
        torch.autograd.grad((aim * twin).sum(), weights),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
