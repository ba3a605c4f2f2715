"""The predictor on the scored steps alone, as matrix products over rows known before."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import Folded, fold, slide, slide_down
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.model.predictor import KERNEL


class _Tap(NamedTuple):
    """One tap of the first convolution, where it does not reach back before the window."""

    columns: slice  # of the row part
    step: int  # the first it reads
    skip: int  # outputs without it: there the paper has zeros
    steps: Tensor  # (count, D)


class TailPredictor:
    """q̂ of the last ``scored_steps`` steps; every layer computes just what the next one reads."""

    def __init__(self, net: AxonNet, like: Tensor) -> None:
        config = net.config
        (first, bias), *others = (_weights(layer) for layer in net.predictor.convolutions)
        self._counts, self._dilations = count_steps(config), config.dilations[1:]
        folded = fold(net.online, first.transpose(1, 2).flatten(0, 1)).to(like)
        self.rows = folded.weight  # (F, taps · D)
        self._taps = _taps(folded, config, self._counts[0])
        self._base = bias.to(like).repeat(self._counts[0], 1)
        for tap in self._taps:
            self._base[tap.skip :] += folded.constant[tap.columns]
        self._layers = [
            (weight.flatten(0, 1).to(like).contiguous(), bias.to(like)) for weight, bias in others
        ]
        weight, bias = _weights(net.predictor.out)
        self._out, self._out_bias = weight[0].to(like).contiguous(), bias.to(like)

    def __call__(
        self, rows: Tensor, inverse: Tensor, *, first: int, count: int, buffers: Buffers
    ) -> Tensor:
        """Return predictions (B, k, D) of windows from row ``first`` on; rows hold x · ``rows``."""
        z = self._first(rows, inverse, first, count, buffers)
        width = z.shape[2]
        for (weight, bias), dilation, steps in zip(
            self._layers, self._dilations, self._counts[1:], strict=True
        ):
            missing = steps + (KERNEL - 1) * dilation - z.shape[1]
            z = pad(z, (0, 0, missing, 0)) if missing else z
            joined = buffers("taps", count, steps, KERNEL * width)
            taps = [z[:, tap * dilation : tap * dilation + steps] for tap in range(KERNEL)]
            torch.cat(taps, dim=2, out=joined)
            z = buffers("tail", count, steps, width)  # over what was just copied
            torch.mm(joined.view(-1, KERNEL * width), weight, out=z.view(-1, width))
            z.add_(bias).relu_()
        return torch.addmm(self._out_bias, z.view(-1, width), self._out).view_as(z)

    def _first(
        self, rows: Tensor, inverse: Tensor, first: int, count: int, buffers: Buffers
    ) -> Tensor:
        """Return the first layer (B, counts[0], D)."""
        z = buffers("tail", count, *self._base.shape).copy_(self._base)
        for tap in self._taps:
            part = {"windows": count, "steps": len(tap.steps)}
            seen = slide(rows[:, tap.columns], first=first + tap.step, **part)
            scale = slide_down(inverse, first=first, step=tap.step, **part)
            placed = torch.add(seen, tap.steps, out=buffers("placed", *seen.shape))
            z[:, tap.skip :].addcmul_(placed, scale)
        return z.relu_()


def _weights(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """Return a convolution's weights (taps, in, out) and bias."""
    weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
    return weight.permute(2, 1, 0), bias


def count_steps(config: NetConfig) -> list[int]:
    """Return how many last steps each layer has to compute."""
    counts = [config.scored_steps]
    for dilation in reversed(config.dilations[1:]):
        counts.append(min(config.window, counts[-1] + (KERNEL - 1) * dilation))
    return counts[::-1]


def _taps(folded: Folded, config: NetConfig, count: int) -> list[_Tap]:
    """Return the taps that reach any step of the window at all."""
    found = []
    for tap in range(KERNEL):
        back = config.horizon + (KERNEL - 1 - tap) * config.dilations[0]
        skip = max(0, back - (config.window - count))
        columns = slice(tap * config.d_model, (tap + 1) * config.d_model)
        step = config.window - count + skip - back
        if skip < count:
            steps = folded.steps[step : step + count - skip, columns].contiguous()
            found.append(_Tap(columns, step, skip, steps))
    return found
