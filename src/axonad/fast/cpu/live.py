"""The network for live windows: all that is linear in a row is done once, when the row comes.

A row belongs to T windows, each time one position earlier. Between it and the first nonlinearity
lie only sums and products: LayerNorm first centres (linear), then divides by one number per step.
With c the matrix that centres, γ and β of LN1, and W whatever reads H = LN1(h),

    h_t   = x We + be + P_t
    H_t W = r_t (x We cγW + (be + P_t) cγW) + βW        r_t = 1 / sqrt(|h_t c|² / D + ε)

so ``x We cγW`` is kept with the row, ``(be + P_t) cγW`` is a table of T positions, and a window
costs a sum and a scaling instead of a product. That serves queries, keys, values, the taps of the
first convolution and, with its own weights, the target's queries. Also folded, exactly: γ and β
of LN2 into what widens, what narrows and the head into one product, 1/√d into the queries; the
keys' βWk moves all logits of a query alike and drops out, the values' βWv passes the softmax.

For T=100, D=128, F=19 a window needs 24 of the 79 MFLOP that :class:`~axonad.model.net.AxonNet`
spends on it. ``scoring.py`` does the same for windows of one series that follow one another; here
every window has rows of its own, which come one at a time. Tables are made in double precision.
Legend of symbols: :mod:`axonad.model`.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from axonad.fast.cpu.folding import Folded, centred, fold
from axonad.fast.cpu.forward import LANES
from axonad.fast.cpu.predictor import count_steps
from axonad.model.net import AxonNet
from axonad.model.predictor import KERNEL

if TYPE_CHECKING:
    from axonad.fast.cpu.live_pass import LivePass


class Kept(NamedTuple):
    """What is kept of rows: for all steps of a window, and for its last ``tail`` steps."""

    every: Tensor  # (..., C): h, queries, keys, values, the share of x̂ that is linear, x
    last: Tensor  # (..., C'): taps of the first convolution, the target's h and queries


class LiveNet:
    """A trained network as tables, for :class:`~axonad.fast.cpu.live_pass.LivePass` to run.

    ``keep`` turns rows into what is kept of them; ``places`` is what a row's position in the
    window adds to that.
    """

    def __init__(self, net: AxonNet, device: torch.device | str = "cpu") -> None:
        config = self.config = net.config
        self.device = torch.device(device)
        self.idle: list[dict[int, LivePass]] = []  # shared by all streams of a detector
        self.eps = torch.tensor(net.online.norm.eps, device=device)
        self.counts = count_steps(config)
        self.reads = [
            count + (KERNEL - 1) * dilation
            for count, dilation in zip(self.counts, config.dilations, strict=True)
        ]
        self.tail = min(config.window, self.reads[0] + config.horizon)
        net = copy.deepcopy(net).requires_grad_(False).cpu().double()
        every, places = self._fold_decoder(net)
        last, places_last = self._fold_queries(net)
        self._keep = self._put(torch.cat([every, last], dim=1))
        self.places = Kept(self._put(places), self._put(places_last[-self.tail :]))

    def keep(self, x: Tensor) -> Kept:
        """Return what is kept of rows (..., F)."""
        kept, every = x @ self._keep, self.places.every.shape[1]
        return Kept(kept[..., :every], kept[..., every:])

    def borrow(self) -> dict[int, LivePass]:
        """Return passes nobody uses, by the number of their windows; ``idle`` takes them back."""
        try:
            return self.idle.pop()
        except IndexError:  # all are in use on other threads
            return {}

    # -- tables -------------------------------------------------------------------------------

    def _fold_decoder(self, net: AxonNet) -> tuple[Tensor, Tensor]:
        """Make what takes a window to x̂; return what rows are multiplied with, and places."""
        width, channels = self.config.d_model, self.config.channels
        attention, online, norm, widen = net.attention, net.online, net.norm, net.widen
        query = online.query.weight / (math.log(2) * math.sqrt(width // self.config.heads))
        readers = torch.cat([query, attention.key.weight, attention.value.weight])
        attended = fold(online, readers)
        self.shift = self._put(attended.constant[:width])
        out = attention.out.weight
        passed = out @ attended.constant[-width:] + attention.out.bias
        self.out, self.out_bias = (
            self._put((out - out.mean(0)).T),
            self._put(passed - passed.mean()),
        )
        self.widen = self._put((widen.weight * norm.weight).T)
        self.widen_bias = self._put(widen.weight @ norm.bias + widen.bias)
        head = pad(net.head.weight, (0, 0, 0, -channels % LANES))
        self.head = self._put(torch.cat([head @ out, head @ net.narrow.weight], dim=1).T)
        bias = head @ (passed + net.narrow.bias) + pad(net.head.bias, (0, -channels % LANES))
        embed, steps = online.embed.weight.T, online.embed.bias + online.position
        direct = embed @ head.T, steps @ head.T + bias
        rows, places = _side_by_side(centred(online), attended, direct)
        blank = -(rows.shape[1] + channels) % LANES  # so that rows begin where processors like it
        own = torch.eye(channels, dtype=rows.dtype)
        return torch.cat([pad(rows, (0, blank)), own], dim=1), pad(places, (0, blank + channels))

    def _fold_queries(self, net: AxonNet) -> tuple[Tensor, Tensor]:
        """Make what takes a window to q̂ and q*; return the same for their columns."""
        layers: list[Any] = [*net.predictor.convolutions, net.predictor.out]
        first, *others, out = [layer.weight.permute(2, 1, 0) for layer in layers]
        taps = fold(net.online, first.transpose(1, 2).flatten(0, 1))
        self.taps_shift, self.taps_bias = self._put(taps.constant), self._put(layers[0].bias)
        self.layers = [
            (self._put(weight.flatten(0, 1)), self._put(layer.bias))
            for weight, layer in zip(others, layers[1:-1], strict=True)
        ]
        self.orders = [
            (torch.arange(count)[:, None] + torch.arange(KERNEL) * dilation)
            .view(-1)
            .to(self.device)
            for count, dilation in zip(self.counts[1:], self.config.dilations[1:], strict=True)
        ]
        self.predicted, self.predicted_bias = self._put(out[0]), self._put(layers[-1].bias)
        target = fold(net.target.encoder, net.target.encoder.query.weight)
        self.target_shift = self._put(target.constant)
        return _side_by_side(taps, centred(net.target.encoder), target)

    def _put(self, table: Tensor) -> Tensor:
        return table.float().contiguous().to(self.device)


def _side_by_side(*parts: Folded | tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Return the parts of rows and the parts of steps, each as one table."""
    pairs = [(part.weight, part.steps) if isinstance(part, Folded) else part for part in parts]
    rows, steps = (torch.cat(columns, dim=1) for columns in zip(*pairs, strict=True))
    return rows, steps
