"""The network of ``net.py`` for M models of one shape at once: every operation is one launch.

The legend of the package with a leading axis M. The weights of a model are a row of one matrix
(M, P), so that clipping, optimiser and moving average are single operations as well. What a row
holds comes from the networks' own weights by name; the tests compare every output and gradient
with ``AxonNet`` itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Size, Tensor
from torch.nn.functional import pad, relu

from axonad.model.config import NetConfig
from axonad.model.loss import query_distance
from axonad.model.net import AxonNet
from axonad.model.predictor import KERNEL
from axonad.model.stacked_layers import affine, attend, convolve, cut_out, scale, with_zeros

Weights = Mapping[str, Tensor]
Keep = Sequence[Tensor]  # per layer, what dropout leaves standing (M, steps, B, D); none: all

ALIGN = 8  # numbers: a weight begins at a multiple of 16 bytes, as fast products like it
ONLINE, LOSS = "online.", "log_variance"
QKV = ("online.query.weight", "attention.key.weight", "attention.value.weight")


class Layout:
    """Where each weight lies in a row; the query encoder comes first, as it does in its target."""

    def __init__(self, net: AxonNet) -> None:
        trained = {name: p.shape for name, p in net.named_parameters() if _is_trained(name)}
        first = {name: shape for name, shape in trained.items() if name.startswith(ONLINE)}
        self._shapes: dict[str, Size] = {**first, **trained, LOSS: Size([2])}
        self._encoder = tuple(first)
        self.encoder_size = sum(sum(self._room(name)) for name in first)
        self.config = net.config

    def _room(self, name: str) -> tuple[int, int]:
        """Return how many numbers a weight has and how many stay unused behind it."""
        size = math.prod(self._shapes[name])
        return size, -size % ALIGN

    def pack(self, nets: Sequence[AxonNet]) -> tuple[Tensor, Tensor]:
        """Return the weights (M, P) and the target encoders (M, Q) of the networks."""
        rows, targets = [], []
        for net in nets:
            weights: dict[str, Tensor] = dict(net.named_parameters())
            weights[LOSS] = torch.zeros(2, device=net.head.weight.device)
            rows.append(self._row(weights, tuple(self._shapes)))
            encoder = {ONLINE + name: p for name, p in net.target.encoder.named_parameters()}
            targets.append(self._row(encoder, self._encoder))
        return torch.stack(rows), torch.stack(targets)

    def _row(self, weights: Weights, names: Sequence[str]) -> Tensor:
        parts = []
        for name in names:
            value = weights[name].detach()
            value = value.transpose(0, 2) if value.dim() == 3 else value  # by tap, see weights
            parts.append(pad(value.flatten(), (0, self._room(name)[1])))
        return torch.cat(parts)

    def weights(self, rows: Tensor) -> dict[str, Tensor]:
        """Return views of the rows by name, each (M, ...); of target rows, the encoder's alone.

        In a row a convolution lies tap by tap, (taps, in, out), as ``convolve`` wants it.
        """
        names = self._encoder if rows.shape[1] == self.encoder_size else tuple(self._shapes)
        sizes = [size for name in names for size in self._room(name)]
        parts = torch.split(rows, sizes, dim=1)[::2]  # one split: its gradient is one concatenation
        found = {}
        for name, part in zip(names, parts, strict=True):
            shape = self._shapes[name]
            if len(shape) == 3:
                found[name] = part.view(len(rows), *reversed(shape)).transpose(1, 3)
            else:
                found[name] = part.view(len(rows), *shape)
        return found

    @torch.no_grad()
    def unpack(self, row: Tensor, target: Tensor, net: AxonNet) -> None:
        """Put one model's row and target row into a network."""
        weights = self.weights(row[None])
        for name, parameter in net.named_parameters():
            if _is_trained(name):
                parameter.copy_(weights[name][0])
        encoder = self.weights(target[None])
        for name, parameter in net.target.encoder.named_parameters():
            parameter.copy_(encoder[ONLINE + name][0])


def _is_trained(name: str) -> bool:
    """Whether a weight is one of those a gradient reaches; a fitted network no longer says so."""
    return not name.startswith("target.")


def linear(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return x (M, ..., I) through the linear layer of that name."""
    return affine(x, w[f"{name}.weight"], w.get(f"{name}.bias"))


def norm(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return the layer norm of x (M, B, T, D), each model with its own gain and bias."""
    return scale(x, w[f"{name}.weight"], w[f"{name}.bias"])


def encode(x: Tensor, w: Weights) -> tuple[Tensor, Tensor]:
    """Return h and H of windows (M, B, T, F), each (M, B, T, D)."""
    h = linear(x, w, "online.embed") + w["online.position"][:, None]
    return h, norm(h, w, "online.norm")


def decode(h: Tensor, H: Tensor, w: Weights, heads: int, attention: torch.dtype) -> Tensor:
    """Return the reconstruction (M, B, T, F); ``attention`` is the type it computes with."""
    qkv = affine(H, torch.cat([w[name] for name in QKV], dim=1), None)
    h = h + linear(attend(qkv, heads, attention), w, "attention.out")
    wide = relu(linear(norm(h, w, "norm"), w, "widen"))
    return linear(h + linear(wide, w, "narrow"), w, "head")


def predict(z: Tensor, w: Weights, config: NetConfig, steps: int, keep: Keep) -> Tensor:
    """Return predicted queries of so many steps (M, N, steps, B, d) from what they depend on.

    ``z`` (M, T, B, D) is H, shifted, time first; where it does not reach as far back as the
    predictor does, zeros stand before every layer's input.
    """
    factor = 1 / (1 - config.dropout) if keep else 1.0
    counts = layer_steps(config, steps)
    for layer, (dilation, count) in enumerate(zip(config.dilations, counts, strict=True)):
        name = f"predictor.convolutions.{layer}"
        short = count + (KERNEL - 1) * dilation - z.shape[1]
        z = with_zeros(z, short) if short else z
        kept = keep[layer] if keep else None
        taps = w[f"{name}.weight"].transpose(1, 3)
        z = convolve(z, taps, w[f"{name}.bias"], dilation, kept, factor)
    z = affine(z, w["predictor.out.weight"][..., 0], w["predictor.out.bias"])
    return split_queries(z, config.heads)


def judged_steps(config: NetConfig, plan: tuple[int, int, int]) -> tuple[int, bool]:
    """Return how many steps of a window are predicted in training, and whether from its block on.

    With one masked block per window, and room before it for all the predictor sees, they are the
    block; otherwise the tail in which all blocks lie.
    """
    tail, span, blocks = plan
    reach = (KERNEL - 1) * sum(config.dilations)
    fits = reach + config.horizon <= config.window - tail
    return (span, True) if blocks == 1 and fits else (tail, False)


def seen_by_predictor(H: Tensor, begins: Tensor | None, config: NetConfig, steps: int) -> Tensor:
    """Return what ``steps`` predictions depend on, shifted, time first: (M, T, B, D).

    They begin where ``begins`` (M, B) says, or are the window's last.
    """
    reach = (KERNEL - 1) * sum(config.dilations)
    if begins is not None:
        return cut_out(H, begins - reach - config.horizon, steps + reach)
    count = min(config.window, steps + reach)
    end = config.window - config.horizon
    past = H[:, :, max(0, end - count) : end].transpose(1, 2).contiguous()
    return with_zeros(past, count - past.shape[1]) if past.shape[1] < count else past


def layer_steps(config: NetConfig, steps: int) -> list[int]:
    """Return how many last steps each convolution computes: what the next one reads of it.

    >>> from axonad.axon import AxonAD
    >>> layer_steps(AxonAD()._net_config(19), 10)
    [38, 34, 26, 10]
    """
    counts = [steps]
    for dilation in config.dilations[:0:-1]:  # from the last layer to the second
        counts.append(min(config.window, counts[-1] + (KERNEL - 1) * dilation))
    return counts[::-1]


def split_queries(q: Tensor, heads: int) -> Tensor:
    """Return (M, N, T, B, d) from (M, T, B, D): heads where ``query_distance`` looks for them."""
    return q.view(*q.shape[:-1], heads, -1).permute(0, 3, 1, 2, 4)


class Batch(NamedTuple):
    """Windows of every model; those that only fill a shorter batch up have no share in it."""

    x: Tensor  # windows                                             (M, B, T, F)
    begins: Tensor | None  # of the steps to predict, None: the last (M, B)
    mask: Tensor  # over these steps: 1 on those that count, else 0  (M, steps, B)
    share: Tensor  # of each window in its model's mean              (M, B)


class Precision(NamedTuple):
    """The types of numbers of the parts that bear shorter ones than the weights have."""

    attention: torch.dtype
    queries: torch.dtype


def losses(
    batch: Batch,
    rows: Tensor,
    target: Tensor,
    layout: Layout,
    keep: Keep = (),
    precision: Precision | None = None,
) -> Tensor:
    """Return each model's loss (M,): ``WeightedLoss`` of ``AxonNet`` on its own windows.

    ``rows`` (M, P) and ``target`` (M, Q) are the weights, as ``layout`` packs them.
    """
    config, steps, exact = layout.config, batch.mask.shape[1], rows.dtype
    attention, queries = precision or Precision(exact, exact)
    w = layout.weights(rows)
    h, H = encode(batch.x, w)
    error = (decode(h, H, w, config.heads, attention) - batch.x).square().mean((2, 3))

    seen = seen_by_predictor(H, batch.begins, config, steps).to(queries)
    predicted = predict(seen, layout.weights(rows.to(queries)), config, steps, keep)
    slow = layout.weights(target.to(queries))
    wanted = target_queries(batch.x.to(queries), batch.begins, slow, config, steps)
    distance = query_distance(predicted.to(exact), wanted.to(exact))  # (M, steps, B)

    query = (distance * batch.mask).sum((1, 2)) / batch.mask.sum((1, 2))
    parts = torch.stack([(error * batch.share).sum(1), query], dim=1)
    return ((-w[LOSS]).exp() * parts + w[LOSS]).sum(1)


@torch.no_grad()
def target_queries(
    x: Tensor, begins: Tensor | None, w: Weights, config: NetConfig, steps: int
) -> Tensor:
    """Return target queries of the steps to predict (M, N, steps, B, d)."""
    first = config.window - steps
    position = w["online.position"]
    if begins is None:
        x = x[:, :, first:].transpose(1, 2)
        where = position[:, first:, None]
    else:
        x = cut_out(x, begins, steps)
        table = position[:, None].expand(-1, x.shape[2], -1, -1)
        where = cut_out(table, begins, steps)
    h = linear(x, w, "online.embed") + where
    return split_queries(linear(norm(h, w, "online.norm"), w, "online.query"), config.heads)


def window_errors(x: Tensor, w: Weights, config: NetConfig) -> Tensor:
    """Return the mean squared reconstruction error of each window (M, B)."""
    return (decode(*encode(x, w), w, config.heads, x.dtype) - x).square().mean((2, 3))
