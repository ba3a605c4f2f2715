"""The forward pass of ``AxonNet`` for scoring, with a third of its arithmetic.

Reference: ``model/net.py``. What depends on a row alone is computed once per row (``folding.py``),
so queries, keys, values, the predictor's first layer and the target's queries are looked up and
added instead of multiplied. Predictor and target compute the scored steps only. Consecutive linear
maps are multiplied out beforehand, in double precision.

Two callers feed it: ``batch.py`` with the windows of one series, which overlap, and ``live.py``
with the windows of many streams, which do not. Both pass :class:`Seen`.
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import fold, fold_spread
from axonad.fast.cpu.predictor import SeenTap, TailPredictor
from axonad.model.embedding import split_heads
from axonad.model.net import AxonNet, Output

LANES = 8  # columns of the last product come in multiples of this: other widths run slower
SAFE = 2.0**64  # sums of softmax weights beyond this, or below its inverse, lose precision
AT_ONCE = 16  # attention heads whose weights fit into a core's cache


class Rows(NamedTuple):
    """Cached values of R rows that do not depend on the window."""

    heads: Tensor  # (3N, R, d): queries, keys, values
    every: Tensor  # (R, D + F'): h and direct, which all steps of a window need
    last: Tensor  # (R, 3 D + D): taps and target, which its last steps need
    inverse: Tensor  # (R, T): 1 / σ at every step
    target_inverse: Tensor  # (R, T): the same of the target encoder


class Seen(NamedTuple):
    """Views of the cached values for B windows, before the position terms are added."""

    heads: Tensor  # (3N, B, T, d): queries, keys, values
    h: Tensor  # (B, T, D), without its mean
    direct: Tensor  # (B, T, F'): the part of x̂ that bypasses attention and feed-forward
    inverse: Tensor  # (B, T, 1): 1 / σ
    taps: list[SeenTap]  # what the predictor's first layer reads
    target: Tensor  # (B, k, D)
    target_inverse: Tensor  # (B, k, 1)


class ForwardNet:
    """The forward pass of a network, with the weights it has at construction, multiplied out."""

    @torch.no_grad()
    def __init__(self, net: AxonNet) -> None:
        like = net.head.weight
        net = copy.deepcopy(net).requires_grad_(False).cpu().double()
        self.config = net.config
        self._heads = Heads(net, like)
        self._decoder = Decoder(net, self._heads.value, like)
        self._predictor = TailPredictor(net, like)
        target = fold(net.target.encoder, net.target.encoder.query.weight)
        self._target_steps, self._target_constant = (
            part.to(like).contiguous()
            for part in (target.steps[-net.config.scored_steps :], target.constant)
        )
        self._every = torch.cat(self._decoder.rows, dim=1).to(like)
        self._last = torch.cat([self._predictor.rows, target.rows], dim=1).to(like)
        self._spread = fold_spread(net.online, like.device)
        self._target_spread = fold_spread(net.target.encoder, like.device)

    @property
    def reads(self) -> int:
        """Number of last steps of a window that predictor and target read."""
        return self._predictor.reads

    def rows(self, x: Tensor) -> Rows:
        """Return the cached values of rows (R, F)."""
        spreads = self._spread.inverse(x), self._target_spread.inverse(x)
        heads = torch.matmul(x, self._heads.rows)
        return Rows(heads, x @ self._every, x @ self._last, *spreads)

    def row_weights(self) -> tuple[Tensor, Tensor]:
        """Return what rows are multiplied with: (F, C) for heads and every, (F, C') for last."""
        return torch.cat([self._heads.rows.transpose(0, 1).flatten(1), self._every], 1), self._last

    def seen(
        self, heads: Tensor, every: Tensor, last: Tensor, inverse: Tensor, target_inverse: Tensor
    ) -> Seen:
        """Return the parts of Rows, arranged by window, split into their columns."""
        width, taps, scored = self.config.d_model, 3 * self.config.d_model, self.config.scored_steps
        h, direct = every[..., :width], every[..., width:]
        target = last[:, -scored:, taps : taps + width], target_inverse[:, -scored:]
        return Seen(heads, h, direct, inverse, self._predictor.seen(last, inverse), *target)

    def __call__(self, seen: Seen, buffers: Buffers, decoded: int | None = None) -> Output:
        """Return the outputs of B windows; they may be views of ``buffers``, valid until reuse.

        With ``decoded``, only that many last steps are reconstructed.
        """
        windows, window, width = seen.h.shape
        steps = window if decoded is None else min(decoded, window)
        both = buffers("both", windows * steps, 3 * width)
        context = both[:, :width].view(windows, steps, self.config.heads, -1)
        self._heads(seen.heads, seen.inverse, buffers=buffers, out=context)
        h, direct = seen.h[:, -steps:], seen.direct[:, -steps:]
        reconstruction = self._decoder(h, direct, both, buffers=buffers)
        predicted = self._predictor(seen.taps, buffers=buffers)
        target = torch.addcmul(
            self._target_constant, seen.target + self._target_steps, seen.target_inverse
        )
        queries = (split_heads(q, self.config.heads) for q in (predicted, target))
        return Output(reconstruction, *queries)


class Heads:
    """Keys and values of all steps and queries of the last ones, all heads at once; attention."""

    def __init__(self, net: AxonNet, like: Tensor) -> None:
        heads, width = net.config.heads, net.config.d_model
        query = net.online.query.weight * math.log2(math.e) / math.sqrt(width // heads)
        matrix = torch.cat([query, net.attention.key.weight, net.attention.value.weight])
        folded = fold(net.online, matrix)
        self.rows, steps = (  # (3N, F, d) and (3N, T, d)
            part.view(len(part), 3 * heads, -1).transpose(0, 1).to(like).contiguous()
            for part in (folded.rows, folded.steps)
        )
        self._steps = steps[:, None]
        # A constant on all keys cancels in the softmax; one on all values adds to the context.
        self._query = folded.constant[:width].view(heads, 1, 1, -1).to(like)
        self.value = folded.constant[-width:]

    def __call__(self, seen: Tensor, inverse: Tensor, *, buffers: Buffers, out: Tensor) -> None:
        """Write the context (B, S, N, d) of the last steps, without the constant ``value``."""
        if seen.shape[1] > 1:  # a contiguous factor is faster for many windows
            inverse = inverse.expand(-1, -1, seen.shape[3]).contiguous()
        heads, last = len(seen) // 3, slice(-out.shape[1], None)
        q = buffers("queries", heads, *out.shape[:2], seen.shape[3])
        torch.add(seen[:heads, :, last], self._steps[:heads, :, last], out=q)
        q.mul_(inverse[:, last]).add_(self._query)
        pairs = buffers("pairs", 2 * heads, *seen.shape[1:])
        torch.add(seen[heads:], self._steps[heads:], out=pairs)
        k, v = pairs.mul_(inverse).chunk(2)
        attend(q, k, v, buffers=buffers, out=out.permute(2, 0, 1, 3))


def attend(q: Tensor, k: Tensor, v: Tensor, *, buffers: Buffers, out: Tensor) -> None:
    """Write softmax(q kᵀ, base 2) v into ``out``: q and out (N, B, S, d), k and v (N, B, T, d).

    On a CPU, powers of two without subtracting the row maximum are several times faster than a
    softmax; if the logits are too large for that, the maximum is subtracted.
    """
    if q.device.type != "cpu":
        out.copy_(scaled_dot_product_attention(q, k, v, scale=math.log(2)))
        return
    q, k, values = (part.flatten(0, 1) for part in (q, k, v))
    context = buffers("context", *q.shape)
    total = buffers("total", *context.shape[:2], 1)
    _weigh(q, k, values, context, total, buffers, safe=False)
    low, high = total.aminmax()
    if not (low.item() > 1 / SAFE and high.item() < SAFE):
        _weigh(q, k, values, context, total, buffers, safe=True)
    out.copy_(context.div_(total).view_as(out))


def _weigh(
    q: Tensor, k: Tensor, v: Tensor, context: Tensor, total: Tensor, buffers: Buffers, *, safe: bool
) -> None:
    """Write the weighted sums of values and the sums of weights, a few heads at a time."""
    for first in range(0, len(q), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        weights = buffers("weights", len(q[part]), q.shape[1], k.shape[1])
        torch.bmm(q[part], k[part].transpose(1, 2), out=weights)
        if safe:
            weights.sub_(weights.amax(-1, keepdim=True))
        torch.sum(weights.exp2_(), -1, keepdim=True, out=total[part])
        torch.bmm(weights, v[part], out=context[part])


class Decoder:
    """From context and rows to the reconstruction.

    LN2 needs h without its mean, which is taken out of the weights that produce h. Gain and bias of
    LN2 are folded into the next product. Context and hidden layer lie side by side in memory, so
    that one product maps both to the channels.
    """

    def __init__(self, net: AxonNet, value: Tensor, like: Tensor) -> None:
        online, out, norm, widen = net.online, net.attention.out, net.norm, net.widen
        steps = online.position + online.embed.bias + out.bias + out.weight @ value
        centred = (steps.T, online.embed.weight, out.weight)
        steps_, rows, mixed = ((part - part.mean(0)).T for part in centred)
        self._steps, self._out = steps_.to(like), mixed.to(like)
        self._eps = norm.eps
        self._widen = (widen.weight * norm.weight).T.to(like)
        self._widen_bias = (widen.bias + widen.weight @ norm.bias).to(like)
        head = net.head.weight
        self._channels = len(head)
        bias = net.head.bias + head @ net.narrow.bias
        both = torch.cat([head @ out.weight, head @ net.narrow.weight], dim=1).T
        direct, direct_steps, both = (
            pad(part, (0, -len(head) % LANES))
            for part in ((head @ online.embed.weight).T, steps @ head.T + bias, both)
        )
        self.rows = rows, direct  # (F, D) and (F, F')
        self._direct_steps, self._both = direct_steps.to(like), both.to(like).contiguous()

    def __call__(self, h: Tensor, direct: Tensor, both: Tensor, *, buffers: Buffers) -> Tensor:
        """Return x̂ (B, S, F); ``both`` (B S, 3 D) starts with the context; the rest is scratch."""
        windows, steps, width = h.shape
        context, hidden = both[:, :width], both[:, width:]
        h = torch.add(h, self._steps[-steps:], out=buffers("h", *h.shape)).view(-1, width)
        h.addmm_(context, self._out)
        square = torch.linalg.vector_norm(h, dim=1, keepdim=True).square_()
        h.mul_(square.div_(width).add_(self._eps).rsqrt_())
        torch.mm(h, self._widen, out=hidden).add_(self._widen_bias).relu_()
        found = torch.add(direct, self._direct_steps[-steps:], out=buffers("found", *direct.shape))
        found.view(windows * steps, -1).addmm_(both, self._both)
        return found[..., : self._channels]
