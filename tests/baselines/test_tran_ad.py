"""TranAD's two phases."""

from __future__ import annotations

import torch

from tests.baselines.detectors import make_quick


def make(seed=0):
    detector = make_quick("TranAD")
    torch.manual_seed(seed)
    return detector, detector._build(3).eval(), torch.randn(4, detector.window, 3)


def test_later_epochs_weigh_the_second_phase_more():
    detector, net, x = make()
    with torch.no_grad():
        first, second = ((back - x[:, -1]).square().mean() for back in net(x))
        for epoch in (1, 2, 5):
            expected = first / epoch + (1 - 1 / epoch) * second
            torch.testing.assert_close(detector._loss(net, x, epoch), expected)


def test_the_second_phase_is_given_the_error_of_the_first():
    _, net, x = make()
    with torch.no_grad():
        first, second = net(x)
        target, blind = x[:, -1:].repeat(1, 1, 2), torch.zeros_like(x)
        torch.testing.assert_close(first, net._phase(net.decoder1, x, blind, target))
        errors = torch.stack([(first - x[:, t]) ** 2 for t in range(x.shape[1])], dim=1)
        torch.testing.assert_close(second, net._phase(net.decoder2, x, errors, target))
        assert not torch.allclose(second, net._phase(net.decoder2, x, blind, target))
