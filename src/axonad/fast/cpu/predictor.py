"""The predictor on the scored steps alone, as matrix products.

Reference: ``model/predictor.py``. Implemented separately because its first layer reads cached
values of rows (``folding.py``), and because on small batches products have less overhead than
convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import Folded, fold
from axonad.model.config import KERNEL, NetConfig
from axonad.model.net import AxonNet

SeenTap = tuple[Tensor, Tensor]
"""What one tap reads in B windows: rows (B, steps, D) and 1 / σ (B, steps, 1)."""


class _Tap(NamedTuple):
    """One tap of the first convolution, where it does not reach back before the window."""

    columns: slice  # of the row part
    back: slice  # the steps it reads, counted from the end of the window
    skip: int  # first outputs without it: there the padding is zero
    steps: Tensor  # (count, D)


class TailPredictor:
    """q̂ of the last ``scored_steps`` steps; every layer computes only what the next one reads."""

    def __init__(self, net: AxonNet, like: Tensor) -> None:
        config = net.config
        (first, bias), *others = (_weights(layer) for layer in net.predictor.convolutions)
        self._counts = config.layer_steps(config.scored_steps)
        self._dilations = config.dilations[1:]
        folded = fold(net.online, first.transpose(1, 2).flatten(0, 1))
        self.rows = folded.rows  # (F, taps · D)
        self._taps = _taps(folded, config, self._counts[0], like)
        self._base = bias.to(like).repeat(self._counts[0], 1)
        for tap in self._taps:
            self._base[tap.skip :] += folded.constant[tap.columns].to(like)
        self._layers = [
            (weight.flatten(0, 1).to(like).contiguous(), bias.to(like)) for weight, bias in others
        ]
        weight, bias = _weights(net.predictor.out)
        self._out, self._out_bias = weight[0].to(like).contiguous(), bias.to(like)

    @property
    def reads(self) -> int:
        """Number of last steps of a window that the first layer reads."""
        return max((-tap.back.start for tap in self._taps), default=1)

    def seen(self, rows: Tensor, inverse: Tensor) -> list[SeenTap]:
        """Return what each tap reads of the last rows (B, ·, 3 D) and of inverse (B, T, 1)."""
        return [(rows[:, tap.back, tap.columns], inverse[:, tap.back]) for tap in self._taps]

    def __call__(self, seen: Sequence[SeenTap], *, buffers: Buffers) -> Tensor:
        """Return predictions (B, k, D)."""
        z = self._first(seen, buffers)
        windows, _, width = z.shape
        for (weight, bias), dilation, steps in zip(
            self._layers, self._dilations, self._counts[1:], strict=True
        ):
            missing = steps + (KERNEL - 1) * dilation - z.shape[1]
            z = pad(z, (0, 0, missing, 0)) if missing else z
            shape = windows, steps, KERNEL, width
            taps = z.as_strided(shape, (z.stride(0), width, dilation * width, 1))
            buffers("taps", *shape).copy_(taps)
            joined = buffers("taps", windows * steps, KERNEL * width)
            z = buffers("tail", windows, steps, width)  # overwrites what was just copied
            flat = buffers("tail", windows * steps, width)
            torch.mm(joined, weight, out=flat).add_(bias).relu_()
        return torch.addmm(self._out_bias, z.view(-1, width), self._out).view_as(z)

    def _first(self, seen: Sequence[SeenTap], buffers: Buffers) -> Tensor:
        """Return the first layer (B, counts[0], D)."""
        z = buffers("tail", len(seen[0][0]), *self._base.shape).copy_(self._base)
        for tap, (rows, inverse) in zip(self._taps, seen, strict=True):
            placed = torch.add(rows, tap.steps, out=buffers("placed", *rows.shape))
            (z[:, tap.skip :] if tap.skip else z).addcmul_(placed, inverse)
        return z.relu_()


def _weights(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """Return a convolution's weights (taps, in, out) and bias."""
    weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
    return weight.permute(2, 1, 0), bias


def _taps(folded: Folded, config: NetConfig, count: int, like: Tensor) -> list[_Tap]:
    """Return the taps that read at least one step of the window."""
    found = []
    for tap in range(KERNEL):
        shift = config.horizon + (KERNEL - 1 - tap) * config.dilations[0]
        skip = max(0, shift - (config.window - count))
        if skip >= count:
            continue
        columns = slice(tap * config.d_model, (tap + 1) * config.d_model)
        start = config.window - count + skip - shift
        stop = start + count - skip
        steps = folded.steps[start:stop, columns].to(like).contiguous()
        back = slice(start - config.window, stop - config.window or None)
        found.append(_Tap(columns, back, skip, steps))
    return found
