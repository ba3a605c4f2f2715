"""The forward pass for scoring against the plain network."""

from __future__ import annotations

import math

import pytest
import torch

from axonad.fast.cpu.batch import seen_from
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.forward import AT_ONCE, ForwardNet, attend
from tests.model.naive import make_net


def make_series(net, windows=5, seed=1, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    rows = net.config.window + windows - 1
    return torch.randn(rows, net.config.channels, generator=generator, dtype=dtype)


def both(net, series):
    """Outputs of the fast forward pass, and of the plain network cut to the scored steps."""
    windows = len(series) - net.config.window + 1
    forward = ForwardNet(net)
    fast = forward(seen_from(forward, forward.rows(series), 0, windows), Buffers(series))
    with torch.no_grad():
        full = net(series.unfold(0, net.config.window, 1).mT)
    last = slice(-net.config.scored_steps, None)
    return fast, full._replace(predicted=full.predicted[:, :, last], target=full.target[:, :, last])


def agree(fast, full, tolerance=1e-5):
    for name, part in fast._asdict().items():
        expected = getattr(full, name)
        assert part.shape == expected.shape
        torch.testing.assert_close(part, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("window", [4, 20, 60])
@pytest.mark.parametrize(("horizon", "tail"), [(0, 1), (1, 10), (3, 4), (1, 60), (2, 2)])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 4, 8), (5, 3), (2, 2)])
def test_equals_the_full_network(window, horizon, tail, dilations):
    net = make_net(window=window, horizon=horizon, tail=min(tail, window), dilations=dilations)
    agree(*both(net, make_series(net)))


@pytest.mark.parametrize("decoded", [1, 4, 19, 20])
def test_only_the_last_steps_are_reconstructed(decoded):
    net = make_net(window=20)
    series = make_series(net)
    forward = ForwardNet(net)
    fast = forward(seen_from(forward, forward.rows(series), 0, 5), Buffers(series), decoded)
    windows = series.unfold(0, 20, 1).mT
    with torch.no_grad():
        plain = net(windows, last=net.config.scored_steps, decoded=decoded)
        whole = net(windows).reconstruction[:, -decoded:]
    agree(fast, plain)
    torch.testing.assert_close(plain.reconstruction, whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("channels", "d_model", "heads"), [(1, 8, 1), (9, 8, 4), (40, 16, 2)])
def test_equals_the_full_network_whatever_its_width(channels, d_model, heads):
    net = make_net(channels=channels, d_model=d_model, heads=heads)
    agree(*both(net, make_series(net)))


def test_equals_the_full_network_to_twelve_digits_in_double():
    """What is multiplied out beforehand is algebra, not an approximation."""
    net = make_net().double()
    agree(*both(net, make_series(net, dtype=torch.float64)), tolerance=1e-11)


def test_the_size_of_the_paper():
    net = make_net(channels=19, window=100, d_model=128, heads=8, tail=10, dilations=(1, 2, 4, 8))
    agree(*both(net, make_series(net)))


def test_rows_that_all_but_cancel_the_position():
    """σ near zero: what is left of two large sums must not be their rounding."""
    net = make_net(channels=8, d_model=8, heads=2)
    with torch.no_grad():
        net.online.embed.weight.copy_(torch.eye(8))
        net.online.embed.bias.zero_()
        net.online.position.copy_(100 * torch.randn(net.config.window, 8))
    series = -net.online.position.detach() + 0.1 * torch.randn(net.config.window, 8)
    agree(*both(net, series), tolerance=1e-4)


@pytest.mark.parametrize("size", [0.1, 1.0, 1e3, -1e3])
def test_attention_with_logits_of_any_size(size):
    torch.manual_seed(0)
    heads = AT_ONCE + 3
    q, k, v = torch.randn(3, heads, 2, 5, 4).unbind()
    k = k.abs() if size < 0 else k
    q = q.abs() * size if size < 0 else q * size
    found = torch.empty_like(v)
    attend(q, k, v, buffers=Buffers(q), out=found)
    logits = (q.double() @ k.double().transpose(2, 3)) * math.log(2)
    expected = torch.softmax(logits, -1) @ v.double()
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)
