"""Images of different shapes, convolved at once.

A window folded by a period is an image with one period a row. Here it lies in a strip: one row
after the other, between them as many zeros as a kernel reaches beyond a pixel. A pixel's neighbours
in its row are its neighbours in the strip; those in the rows above and below lie whole strides (a
period and the zeros) away. Strips of all periods are equally long, so that nothing waits for which
there are.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad


def longest(rows: int, reach: int) -> int:
    """Return the length of the longest strip of any of a window's periods.

    >>> longest(6, 1)  # two rows of three pixels need 8, three of two need 9
    9
    """
    periods = {rows // frequency for frequency in range(1, rows // 2 + 1)}
    return max(-(-rows // period) * (period + reach) for period in periods)


class Strips:
    """Where the rows of windows lie in strips: N windows of T rows, each with its period (N,)."""

    def __init__(self, period: Tensor, *, rows: int, reach: int) -> None:
        period = period[:, None]
        stride = period + reach
        place = torch.arange(longest(rows, reach), device=period.device)
        row, column = place // stride, place % stride
        pixel = row * period + column
        inside = (column < period) & (row * period < rows)
        self._reach = reach
        self._inside = inside[:, None]
        self._fold = pixel.masked_fill(~inside, rows).clamp(max=rows)  # a row of zeros comes last
        time = torch.arange(rows, device=period.device)
        self._unfold = time + time // period * reach
        steps = torch.arange(-reach, reach + 1, device=period.device)[:, None]
        self._near = (place + steps * stride[..., None]).clamp(-1, len(place)).flatten(1) + 1

    def fold(self, x: Tensor) -> Tensor:
        """Return the strips (N, C, length) of windows (N, T, C)."""
        return _pick(pad(x.mT, (0, 1)), self._fold)

    def unfold(self, strips: Tensor) -> Tensor:
        """Return windows (N, T, C) from their strips."""
        return _pick(strips, self._unfold).mT

    def convolve(self, strips: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the images' convolution with kernels (outer, C, size, size), zeros around it."""
        rows = _pick(pad(strips, (1, 1)), self._near).view(len(strips), -1, strips.shape[2])
        return conv1d(rows, weight.flatten(1, 2), bias, padding=self._reach) * self._inside


def _pick(strips: Tensor, places: Tensor) -> Tensor:
    """Return (N, C, M): of each of N strips (N, C, ·) its ``places`` (N, M)."""
    return strips.gather(2, places[:, None].expand(-1, strips.shape[1], -1))
