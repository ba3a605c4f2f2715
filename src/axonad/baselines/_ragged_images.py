"""Images of different shapes in one batch, so that a single convolution serves all of them.

A window folded by a period is an image with one period per row. Here it is stored as a strip: its
rows one after the other, separated by as many zeros as the kernel reaches to each side. Horizontal
neighbours of a pixel are its neighbours in the strip; vertical ones are a multiple of the stride
(period plus separator) away. Strips have the same length for every period, so the host need not
know the periods and a CUDA graph can be captured.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad


def longest_strip(rows: int, reach: int) -> int:
    """Return the length of the longest strip over all periods of a window.

    >>> longest_strip(6, 1)  # two rows of three pixels need 8, three rows of two need 9
    9
    """
    periods = {rows // frequency for frequency in range(1, rows // 2 + 1)}
    return max(-(-rows // period) * (period + reach) for period in periods)


class RaggedImages:
    """Index maps between N windows of T rows and their strips, given each window's period (N,)."""

    def __init__(self, period: Tensor, *, rows: int, reach: int) -> None:
        period = period[:, None]
        stride = period + reach
        index = torch.arange(longest_strip(rows, reach), device=period.device)
        row, column = index // stride, index % stride
        pixel = row * period + column
        inside = (column < period) & (row * period < rows)
        self._reach = reach
        self._inside = inside[:, None]
        self._fold = pixel.masked_fill(~inside, rows).clamp(max=rows)  # row T is zero padding
        time = torch.arange(rows, device=period.device)
        self._unfold = time + time // period * reach
        steps = torch.arange(-reach, reach + 1, device=period.device)[:, None]
        self._near = (index + steps * stride[..., None]).clamp(-1, len(index)).flatten(1) + 1

    def fold(self, x: Tensor) -> Tensor:
        """Return the strips (N, C, length) of windows (N, T, C)."""
        return _pick(pad(x.mT, (0, 1)), self._fold)

    def unfold(self, strips: Tensor) -> Tensor:
        """Return windows (N, T, C) from their strips."""
        return _pick(strips, self._unfold).mT

    def convolve(self, strips: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the zero-padded convolution of the images with kernels (outer, C, size, size)."""
        rows = _pick(pad(strips, (1, 1)), self._near).view(len(strips), -1, strips.shape[2])
        return conv1d(rows, weight.flatten(1, 2), bias, padding=self._reach) * self._inside


def _pick(strips: Tensor, indices: Tensor) -> Tensor:
    """Return (N, C, M): the entries ``indices`` (N, M) of each strip (N, C, ·)."""
    return strips.gather(2, indices[:, None].expand(-1, strips.shape[1], -1))
