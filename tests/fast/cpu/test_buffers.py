from __future__ import annotations

import torch

from axonad.fast.cpu.buffers import Buffers


def test_shapes_of_one_name_share_memory_and_names_do_not():
    buffers = Buffers(torch.zeros(1, dtype=torch.float64))
    flat = buffers("a", 6).copy_(torch.arange(6.0))
    other = buffers("b", 6).fill_(9.0)
    assert buffers("a", 2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert buffers("a", 2, 2).tolist() == [[0, 1], [2, 3]]
    buffers("a", 2, 2).zero_()
    assert flat.tolist() == [0, 0, 0, 0, 4, 5]
    assert flat.dtype == other.dtype == torch.float64


def test_memory_is_allocated_once_and_grows_when_it_must():
    buffers = Buffers(torch.zeros(1))
    small = buffers("a", 2, 2)
    assert buffers("a", 2, 2) is small
    large = buffers("a", 3, 3).copy_(torch.arange(9.0).view(3, 3))
    again = buffers("a", 2, 2)
    assert again.data_ptr() == large.data_ptr() != small.data_ptr(), "no view of the old memory"
    assert again.tolist() == [[0, 1], [2, 3]]
