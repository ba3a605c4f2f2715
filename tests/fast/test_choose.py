from __future__ import annotations

import pytest
import torch

from axonad.fast.choose import FEW, run_windows
from axonad.fast.cpu.batch import PASS
from tests.model.naive import make_net


def run(net, series, batch_size):
    """Reconstruction and target queries of all windows, and how often each window came."""
    windows = len(series) - net.config.window + 1
    found = torch.zeros(windows, net.config.window, series.shape[1])
    times = torch.zeros(windows)

    def consume(first, output, x):
        part = slice(first, first + len(x))
        torch.testing.assert_close(x, series.unfold(0, net.config.window, 1).mT[part])
        found[part] = output.reconstruction
        times[part] += 1

    with torch.no_grad():
        run_windows(net, series, batch_size=batch_size, consume=consume)
    assert (times == 1).all()
    return found


@pytest.mark.parametrize("windows", [1, FEW, FEW + 1, PASS + 1, 3 * PASS])
@pytest.mark.parametrize("batch_size", [1, 7, PASS + 3, 1000])
def test_every_window_comes_once_and_right(windows, batch_size):
    net = make_net()
    series = torch.randn(net.config.window + windows - 1, 3)
    with torch.no_grad():
        expected = net(series.unfold(0, net.config.window, 1).mT).reconstruction
    torch.testing.assert_close(run(net, series, batch_size), expected, rtol=1e-5, atol=1e-5)
