"""The network made for scoring: what ``AxonNet`` gives, for a third of the work.

Windows that begin one row after another share what depends on a row alone (``folded.py``): queries,
keys, values, the predictor's first layer and the target's queries are looked up and added instead
of multiplied. Of predictor and target only the scored steps are computed. Linear maps that follow
one another are multiplied out beforehand, in double.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from axonad.fast.cpu.attention import Heads
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import fold, fold_spread, slide, slide_down
from axonad.fast.cpu.predictor import TailPredictor
from axonad.model.embedding import split_heads
from axonad.model.net import AxonNet, Output

LANES = 8  # the last product's columns come in multiples of this: other widths run slower


class Rows(NamedTuple):
    """What is known of R consecutive rows, whatever window they are seen in."""

    heads: Tensor  # (3N, R, d): queries, keys, values
    h: Tensor  # (R, D), without its mean
    direct: Tensor  # (R, F): the part of x̂ that neither attention nor feed-forward touches
    taps: Tensor  # (R, 3D): the predictor's first layer
    target: Tensor  # (R, D)
    inverse: Tensor  # (R, T): 1 / σ
    target_inverse: Tensor  # (R, T)


class ScoringNet:
    """The outputs of a network as it is now, for the windows of consecutive rows."""

    @torch.no_grad()
    def __init__(self, net: AxonNet) -> None:
        like = net.head.weight
        net = copy.deepcopy(net).requires_grad_(False).cpu().double()
        self.config = net.config
        self._heads = Heads(net, like)
        self._decoder = Decoder(net, self._heads.value, like)
        self._predictor = TailPredictor(net, like)
        self._target = fold(net.target.encoder, net.target.encoder.query.weight).to(like)
        self._spread = fold_spread(net.online, like.device)
        self._target_spread = fold_spread(net.target.encoder, like.device)

    def rows(self, x: Tensor) -> Rows:
        """Return what windows share of consecutive rows (R, F)."""
        return Rows(
            torch.matmul(x, self._heads.rows),
            x @ self._decoder.rows,
            x @ self._decoder.direct,
            x @ self._predictor.rows,
            x @ self._target.weight,
            self._spread.inverse(x),
            self._target_spread.inverse(x),
        )

    def windows(self, rows: Rows, *, first: int, count: int, buffers: Buffers) -> Output:
        """Return the outputs of the windows that begin at rows ``first``, ``first + 1``, ...

        They may be views into ``buffers``: use them before the next call.
        """
        window, width, heads = self.config.window, self.config.d_model, self.config.heads
        both = buffers("both", count * window, 3 * width)
        context = both[:, :width].view(count, window, heads, -1)
        self._heads(rows.heads, rows.inverse, first=first, buffers=buffers, out=context)
        reconstruction = self._decoder(rows.h, rows.direct, both, first=first, buffers=buffers)
        predicted = self._predictor(
            rows.taps, rows.inverse, first=first, count=count, buffers=buffers
        )
        target = self._target_queries(rows, first, count)
        return Output(reconstruction, *(split_heads(q, heads) for q in (predicted, target)))

    def _target_queries(self, rows: Rows, first: int, count: int) -> Tensor:
        """Return q* of the scored steps (B, k, D)."""
        steps = self.config.scored_steps
        begin = self.config.window - steps
        seen = slide(rows.target, first=first + begin, windows=count, steps=steps)
        scale = slide_down(rows.target_inverse, first=first, step=begin, windows=count, steps=steps)
        return torch.addcmul(self._target.constant, seen + self._target.steps[begin:], scale)


class Decoder:
    """Context and rows → reconstruction.

    LN2 needs h without its mean; the mean is taken out of the weights that make h. Its gain and
    bias are part of the product that follows. Context and hidden layer lie side by side, so that
    one product takes both to the channels.
    """

    def __init__(self, net: AxonNet, value: Tensor, like: Tensor) -> None:
        online, out, norm, widen = net.online, net.attention.out, net.norm, net.widen
        steps = online.position + online.embed.bias + out.bias + out.weight @ value
        centred = (steps.T, online.embed.weight, out.weight)
        steps_, rows, mixed = ((part - part.mean(0)).T for part in centred)
        self.rows, self._steps, self._out = rows.to(like), steps_.to(like), mixed.to(like)
        self._eps = norm.eps
        self._widen = (widen.weight * norm.weight).T.to(like)
        self._widen_bias = (widen.bias + widen.weight @ norm.bias).to(like)
        head = net.head.weight
        self._channels = len(head)
        bias = net.head.bias + head @ net.narrow.bias
        direct = [(head @ online.embed.weight).T, steps @ head.T + bias]
        both = torch.cat([head @ out.weight, head @ net.narrow.weight], dim=1).T
        lanes = (0, -len(head) % LANES)
        self.direct, self._direct_steps, self._both = (
            pad(part, lanes).to(like).contiguous() for part in (*direct, both)
        )

    def __call__(
        self, rows: Tensor, direct: Tensor, both: Tensor, *, first: int, buffers: Buffers
    ) -> Tensor:
        """Return x̂ (B, T, F); rows and ``direct`` hold x times ours, ``both`` begins with context.

        The rest of ``both`` (B · T, 3D) is written over.
        """
        window, width = self._steps.shape
        windows = len(both) // window
        context, hidden = both[:, :width], both[:, width:]
        h = self._placed("h", rows, self._steps, first, windows, buffers).addmm_(context, self._out)
        square = torch.linalg.vector_norm(h, dim=1, keepdim=True).square_()
        h.mul_(square.div_(width).add_(self._eps).rsqrt_())
        torch.mm(h, self._widen, out=hidden).add_(self._widen_bias).relu_()
        found = self._placed("found", direct, self._direct_steps, first, windows, buffers)
        found.addmm_(both, self._both)
        return found.view(windows, window, -1)[..., : self._channels]

    def _placed(
        self, name: str, rows: Tensor, steps: Tensor, first: int, windows: int, buffers: Buffers
    ) -> Tensor:
        """Return rows at their steps, (B · T, O)."""
        window, width = steps.shape
        placed = buffers(name, windows, window, width)
        seen = slide(rows, first=first, windows=windows, steps=window)
        return torch.add(seen, steps, out=placed).view(-1, width)
