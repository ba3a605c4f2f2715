"""The windows of one series, which overlap."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.batch import seen_from
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.forward import ForwardNet
from tests.fast.cpu.test_forward import agree, make_series
from tests.fast.test_choose import run
from tests.model.naive import make_net


def test_any_part_of_the_windows_alone():
    net = make_net()
    series = make_series(net, windows=9)
    forward, buffers = ForwardNet(net), Buffers(series)
    rows = forward.rows(series)
    whole = forward(seen_from(forward, rows, 0, 9), Buffers(series))
    for first, count in ((0, 4), (4, 4), (8, 1)):
        part = forward(seen_from(forward, rows, first, count), buffers)
        agree(part, type(part)(*(output[first : first + count] for output in whole)))


@pytest.mark.parametrize("rows", [45, 200])
def test_the_same_bits_however_many_threads(rows):
    net = make_net()
    series = torch.randn(rows, 3)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            found.append(run(net, series, 32))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[1], found[2])
