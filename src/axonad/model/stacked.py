"""The network of ``net.py`` for M models of one shape at once: every operation is one launch.

The legend of the package with a leading axis M. The weights of a model are a row of one matrix
(M, P), so that clipping, optimiser and moving average are single operations as well. What a row
holds comes from the networks' own weights by name; the tests compare every output and gradient
with ``AxonNet`` itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Size, Tensor
from torch.nn.functional import layer_norm, pad, relu, scaled_dot_product_attention

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads
from axonad.model.loss import query_distance
from axonad.model.net import AxonNet
from axonad.model.predictor import KERNEL

Weights = Mapping[str, Tensor]

ALIGN = 4  # floats: a weight begins at a multiple of 16 bytes, as fast matrix products like it
ONLINE, LOSS = "online.", "log_variance"


class Layout:
    """Where each weight lies in a row; the query encoder comes first, as it does in its target."""

    def __init__(self, net: AxonNet) -> None:
        trained = {name: p.shape for name, p in net.named_parameters() if p.requires_grad}
        first = {name: shape for name, shape in trained.items() if name.startswith(ONLINE)}
        self._shapes: dict[str, Size] = {**first, **trained, LOSS: Size([2])}
        self._encoder = tuple(first)
        self.encoder_size = sum(sum(self._room(name)) for name in first)

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
        parts = [pad(weights[name].detach().flatten(), (0, self._room(name)[1])) for name in names]
        return torch.cat(parts)

    def weights(self, rows: Tensor) -> dict[str, Tensor]:
        """Return views of the rows by name, each (M, ...); of target rows, the encoder's alone."""
        names = self._encoder if rows.shape[1] == self.encoder_size else tuple(self._shapes)
        sizes = [size for name in names for size in self._room(name)]
        parts = torch.split(rows, sizes, dim=1)[::2]  # one split: its gradient is one concatenation
        return {
            name: part.view(len(rows), *self._shapes[name])
            for name, part in zip(names, parts, strict=True)
        }

    @torch.no_grad()
    def unpack(self, row: Tensor, target: Tensor, net: AxonNet) -> None:
        """Put one model's row and target row into a network."""
        weights = self.weights(row[None])
        for name, parameter in net.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(weights[name][0])
        encoder = self.weights(target[None])
        for name, parameter in net.target.encoder.named_parameters():
            parameter.copy_(encoder[ONLINE + name][0])


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x (M, ..., I) times each model's weight (M, O, I), plus its bias (M, O)."""
    rows, weight = x.flatten(1, -2), weight.transpose(1, 2)
    product = rows @ weight if bias is None else torch.baddbmm(bias[:, None], rows, weight)
    return product.view(*x.shape[:-1], -1)


def linear(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return x (M, ..., I) through the linear layer of that name."""
    return multiply(x, w[f"{name}.weight"], w.get(f"{name}.bias"))


def norm(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return the layer norm of x (M, B, T, D), each model with its own gain and bias."""
    gain, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    return torch.addcmul(bias[:, None, None], layer_norm(x, x.shape[-1:]), gain[:, None, None])


def encode(x: Tensor, w: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """Return h, H and q of windows (M, B, T, F), each (M, B, T, D)."""
    h = linear(x, w, "online.embed") + w["online.position"][:, None]
    H = norm(h, w, "online.norm")
    return h, H, linear(H, w, "online.query")


def decode(h: Tensor, H: Tensor, q: Tensor, w: Weights, heads: int) -> Tensor:
    """Return the reconstruction (M, B, T, F)."""
    k, v = linear(H, w, "attention.key"), linear(H, w, "attention.value")
    q, k, v = (split_heads(z.flatten(0, 1), heads) for z in (q, k, v))
    context = scaled_dot_product_attention(q, k, v)  # (M B, N, T, d)
    h = h + linear(context.transpose(1, 2).reshape(h.shape), w, "attention.out")
    wide = relu(linear(norm(h, w, "norm"), w, "widen"))
    return linear(h + linear(wide, w, "narrow"), w, "head")


def predict(H: Tensor, w: Weights, config: NetConfig, keep: Tensor | None) -> Tensor:
    """Return predicted queries (M, N, B, T, d) from H (M, B, T, D).

    Time comes before windows here, so that a shift in time is a slice and no copy. ``keep``
    (M, layers, T, B, D) says what dropout leaves standing; its factor 1 / (1 - p) goes into the
    weights behind it, which are far smaller than what they meet.
    """
    factor = 1.0 if keep is None else 1 / (1 - config.dropout)
    z = pad(H.transpose(1, 2), (0, 0, 0, 0, config.horizon, 0))[:, : config.window].contiguous()
    for layer, dilation in enumerate(config.dilations):
        name = f"predictor.convolutions.{layer}"
        taps = w[f"{name}.weight"].permute(3, 0, 2, 1) * (factor if layer else 1.0)
        kept = None if keep is None else keep[:, layer]
        z = causal_layer(z, taps.contiguous(), w[f"{name}.bias"], dilation, kept)
    z = multiply(z, w["predictor.out.weight"][..., 0] * factor, w["predictor.out.bias"])
    return split_queries(z.transpose(1, 2), config.heads)


def causal_layer(
    z: Tensor, taps: Tensor, bias: Tensor, dilation: int, keep: Tensor | None
) -> Tensor:
    """Return causal convolution, ReLU and dropout of z (M, T, B, D).

    ``taps`` (kernel, M, in, out): one that looks ``lag`` steps back adds the product of all but the
    last ``lag`` steps to all but the first: one strided matrix product, in place, no padding.
    """
    out: Tensor = _CausalLayer.apply(z, taps, bias, dilation, keep)  # type: ignore[no-untyped-call]
    return out


class _CausalLayer(torch.autograd.Function):
    """The output is zero exactly where ReLU or dropout stop the gradient: it is all they keep."""

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, taps: Tensor, bias: Tensor, dilation: int, keep: Tensor | None
    ) -> Tensor:
        out = torch.baddbmm(bias[:, None], z.flatten(1, 2), taps[-1]).view(z.shape)
        for lag, tap in _lags(z, dilation):
            _later(out, lag).baddbmm_(_earlier(z, lag), taps[tap])
        out.clamp_min_(0)
        if keep is not None:
            out.mul_(keep)
        ctx.save_for_backward(z, taps, out)
        ctx.dilation = dilation
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        z, taps, out = ctx.saved_tensors
        g = torch.where(out > 0, grad, 0.0)
        back = taps.transpose(2, 3)
        grad_z = (g.flatten(1, 2) @ back[-1]).view(z.shape)
        grad_taps = torch.zeros_like(taps)
        torch.bmm(z.flatten(1, 2).transpose(1, 2), g.flatten(1, 2), out=grad_taps[-1])
        for lag, tap in _lags(z, ctx.dilation):
            _earlier(grad_z, lag).baddbmm_(_later(g, lag), back[tap])
            torch.bmm(_earlier(z, lag).transpose(1, 2), _later(g, lag), out=grad_taps[tap])
        return grad_z, grad_taps, g.sum((1, 2)), None, None


def _lags(z: Tensor, dilation: int) -> list[tuple[int, int]]:
    """Return how far back each tap but the last looks, and its place; none beyond the window."""
    lags = [((KERNEL - 1 - tap) * dilation, tap) for tap in range(KERNEL - 1)]
    return [(lag, tap) for lag, tap in lags if lag < z.shape[1]]


def _earlier(z: Tensor, lag: int) -> Tensor:
    """Return all but the last ``lag`` steps as rows, without a copy."""
    return z[:, : z.shape[1] - lag].flatten(1, 2)


def _later(z: Tensor, lag: int) -> Tensor:
    """Return all but the first ``lag`` steps as rows, without a copy."""
    return z[:, lag:].flatten(1, 2)


def split_queries(q: Tensor, heads: int) -> Tensor:
    """Return (M, N, B, T, d) from (M, B, T, D): heads where ``query_distance`` looks for them."""
    return q.view(*q.shape[:-1], heads, -1).permute(0, 3, 1, 2, 4)


class Batch(NamedTuple):
    """Windows of every model; those that only fill a shorter batch up have no share in it."""

    x: Tensor  # windows                                   (M, B, T, F)
    mask: Tensor  # 1 on the steps to predict, 0 elsewhere (M, B, T)
    share: Tensor  # of each window in its model's mean    (M, B)


def losses(
    batch: Batch, w: Weights, target: Weights, config: NetConfig, keep: Tensor | None
) -> Tensor:
    """Return each model's loss (M,): ``WeightedLoss`` of ``AxonNet`` on its own windows."""
    h, H, q = encode(batch.x, w)
    with torch.no_grad():
        wanted = split_queries(encode(batch.x, target)[2], config.heads)
    distance = query_distance(predict(H, w, config, keep), wanted)  # (M, B, T)
    query = (distance * batch.mask).sum((1, 2)) / batch.mask.sum((1, 2))
    error = (decode(h, H, q, w, config.heads) - batch.x).square().mean((2, 3))
    parts = torch.stack([(error * batch.share).sum(1), query], dim=1)
    return ((-w[LOSS]).exp() * parts + w[LOSS]).sum(1)


def window_errors(x: Tensor, w: Weights, config: NetConfig) -> Tensor:
    """Return the mean squared reconstruction error of each window (M, B)."""
    return (decode(*encode(x, w), w, config.heads) - x).square().mean((2, 3))
