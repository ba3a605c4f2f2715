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

For T=100, D=128, F=19 a window needs 24 of the 71 MFLOP that :class:`~axonad.model.net.AxonNet`
spends on it. Tables are made in double precision. Legend of symbols: :mod:`axonad.model`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from axonad.model.embedding import QueryEncoder
from axonad.model.net import AxonNet
from axonad.model.predictor import KERNEL, QueryPredictor

LANES = 8  # the head's columns come in multiples of this: other widths run half as fast


class Kept(NamedTuple):
    """What is kept of rows: for all steps of a window, and for its last ``tail`` steps."""

    every: Tensor  # (..., C): h, queries, keys, values, the share of x̂ that is linear, x
    last: Tensor  # (..., C'): taps of the first convolution, the target's h and queries


class LiveNet:
    """A trained network as tables: scores windows from what was kept of their rows.

    ``keep`` turns rows into what is kept of them. Calling it with what was kept of whole windows
    gives what ``AxonNet`` gives with ``last=scored_steps``.
    """

    def __init__(self, net: AxonNet, device: torch.device | str = "cpu") -> None:
        config = self.config = net.config
        self.device = torch.device(device)
        self.eps = torch.tensor(net.online.norm.eps, device=device)
        self.counts = _output_steps(config.scored_steps, config.dilations, config.window)
        self.reads = [
            count + (KERNEL - 1) * dilation
            for count, dilation in zip(self.counts, config.dilations, strict=True)
        ]
        self.tail = min(config.window, self.reads[0] + config.horizon)
        online, target = _Encoder(net.online), _Encoder(net.target.encoder)
        every, places = self._fold_decoder(net, online)
        last, places_last = self._fold_queries(net.predictor, online, target)
        self._keep = self._put(torch.cat([every, last], dim=1))
        self.places = Kept(*self._put(places, places_last))

    def keep(self, x: Tensor) -> Kept:
        """Return what is kept of rows (..., F)."""
        kept, every = x @ self._keep, self.places.every.shape[1]
        return Kept(kept[..., :every], kept[..., every:])

    # -- tables -------------------------------------------------------------------------------

    def _fold_decoder(self, net: AxonNet, online: _Encoder) -> tuple[Tensor, Tensor]:
        width, channels = self.config.d_model, self.config.channels
        query = online.query / (math.log(2) * math.sqrt(width // self.config.heads))
        value, out = _double(net.attention.value.weight).T, _double(net.attention.out.weight).T
        readers = torch.cat([query, _double(net.attention.key.weight).T, value], dim=1)
        shift = online.shift @ readers
        passed = shift[2 * width :] @ out + _double(net.attention.out.bias)
        self.shift = self._put(shift[:width])
        self.out, self.out_bias = self._put(out @ online.centre, passed @ online.centre)
        widen, narrow = _double(net.widen.weight).T, _double(net.narrow.weight).T
        bias = _double(net.norm.bias) @ widen + _double(net.widen.bias)
        self.widen, self.widen_bias = self._put(_double(net.norm.weight)[:, None] * widen, bias)
        head = pad(_double(net.head.weight).T, (0, -channels % LANES))
        self.head = self._put(torch.cat([out @ head, narrow @ head]))
        bias = (passed + _double(net.narrow.bias)) @ head
        bias[:channels] += _double(net.head.bias)
        rows, places = online.fold(online.centre, online.normed(readers), head)
        places[:, -len(bias) :] += bias
        blank = -(places.shape[1] + channels) % LANES  # rows begin where a processor likes it
        own = torch.eye(channels, dtype=torch.float64)
        return torch.cat([pad(rows, (0, blank)), own], dim=1), pad(places, (0, blank + channels))

    def _fold_queries(
        self, predictor: QueryPredictor, online: _Encoder, target: _Encoder
    ) -> tuple[Tensor, Tensor]:
        layers: list[Any] = [*predictor.convolutions, predictor.out]
        first, *others, out = [_double(layer.weight).permute(2, 1, 0) for layer in layers]
        biases = self._put(*(layer.bias for layer in layers))
        taps = torch.cat(list(first), dim=1)
        self.taps_shift, self.taps_bias = self._put(online.shift @ taps), biases[0]
        weights = [self._put(weight.flatten(0, 1)) for weight in others]
        self.layers = list(zip(weights, biases[1:-1], strict=True))
        self.predicted, self.predicted_bias = self._put(out[0]), biases[-1]
        self.orders = [
            (torch.arange(count)[:, None] + torch.arange(KERNEL) * dilation)
            .flatten()
            .to(self.device)
            for count, dilation in zip(self.counts[1:], self.config.dilations[1:], strict=True)
        ]
        mine = online.fold(online.normed(taps))
        theirs = target.fold(target.centre, target.normed(target.query))
        rows, places = (torch.cat(pair, dim=1) for pair in zip(mine, theirs, strict=True))
        self.target_shift = self._put(target.shift @ target.query)
        return rows, places[-self.tail :]

    def _put(self, *tables: Tensor) -> Any:
        """Return tables as they are used: one alone, or a list."""
        put = [table.detach().float().contiguous().to(self.device) for table in tables]
        return put if len(put) > 1 else put[0]


class _Encoder:
    """The weights of a query encoder as rows meet them, in double precision."""

    def __init__(self, encoder: QueryEncoder) -> None:
        self.embed = _double(encoder.embed.weight).T  # (F, D)
        self.position = _double(encoder.embed.bias) + _double(encoder.position)  # (T, D)
        width = self.position.shape[1]
        self.centre = torch.eye(width, dtype=torch.float64) - 1 / width
        self.gain, self.shift = _double(encoder.norm.weight), _double(encoder.norm.bias)
        self.query = _double(encoder.query.weight).T  # (D, D)

    def normed(self, weight: Tensor) -> Tensor:
        """Return what stands for LN1 and a product behind it, but for r_t and β."""
        return self.centre @ (self.gain[:, None] * weight)

    def fold(self, *weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the products of rows and positions with all weights, side by side."""
        weight = torch.cat(weights, dim=1)
        return self.embed @ weight, self.position @ weight


def _double(weight: Tensor) -> Tensor:
    return weight.detach().cpu().double()


def _output_steps(last: int, dilations: tuple[int, ...], window: int) -> list[int]:
    """Return how many last steps each convolution has to compute.

    >>> _output_steps(10, (1, 2, 4, 8), 100)
    [38, 34, 26, 10]
    """
    counts = [last]
    for dilation in reversed(dilations[1:]):
        counts.insert(0, min(window, counts[0] + (KERNEL - 1) * dilation))
    return counts
