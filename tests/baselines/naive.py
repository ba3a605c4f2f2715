"""Baselines as their papers write them: slow, obvious reference implementations.

Each reference network takes a network of ours with its weights and returns the training loss of
windows; our implementation must give the same value and the same gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import elu, gelu, glu, mse_loss, softplus

from axonad.baselines._vae import Gaussian, kl, warm_up
from axonad.baselines.tft_residual import QUANTILES

Twin = Callable[[Any, nn.Module, Tensor], Tensor]
"""Detector, network, windows (B, T, F) → the loss in epoch ``EPOCH``."""
EPOCH = 7


# -- windows -----------------------------------------------------------------------------------


def own_units(X):
    return np.array([(row - row.mean()) / row.std(ddof=1) for row in X])


def naive_windows(X, window):
    return np.array([X[i : i + window].T.ravel() for i in range(len(X) - window + 1)])


# -- AnomalyTransformer ------------------------------------------------------------------------


def prior_association(sigma: Tensor) -> Tensor:
    width = torch.pow(3.0, torch.sigmoid(5 * sigma) + 1e-5)[..., None] - 1
    rows = torch.arange(sigma.shape[-1], dtype=sigma.dtype)
    weight = torch.exp(-0.5 * ((rows[:, None] - rows) / width).square())
    return weight / weight.sum(-1, keepdim=True)


def discrepancy(series: Tensor, prior: Tensor) -> Tensor:
    def divergence(p: Tensor, q: Tensor) -> Tensor:
        return (p * ((p + 1e-4).log() - (q + 1e-4).log())).sum(-1).mean(1)

    return divergence(series, prior) + divergence(prior, series)


def anomaly_transformer(detector: Any, net: Any, x: Tensor) -> Tensor:
    tokens, phases = net.embedding(x), []
    for layer in net.layers:
        q, k, v = (
            part.unflatten(-1, (detector.heads, -1)).transpose(1, 2)
            for part in layer.projection(tokens).chunk(3, dim=-1)
        )
        series = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
        prior = prior_association(layer.sigma(tokens).transpose(1, 2))
        tokens = layer.norm1(tokens + layer.out((series @ v).transpose(1, 2).flatten(2)))
        tokens = layer.norm2(tokens + layer.narrow(gelu(layer.wide(tokens))))
        away = discrepancy(series, prior.detach()).mean()
        towards = discrepancy(series.detach(), prior).mean()
        phases.append(towards - away)
    back = net.head(net.norm(tokens))
    return 2 * mse_loss(back, x) + detector.discrepancy_weight * torch.stack(phases).mean()


# -- TimesNet ----------------------------------------------------------------------------------


def inception(layer: Any, images: Tensor) -> Tensor:
    return torch.stack([convolution(images) for convolution in layer.sizes]).mean(0)


def folded(block: Any, window: Tensor, period: int) -> Tensor:
    """Return a window (T, D) processed as an image with one period per row."""
    count = len(window)
    rows = -(-count // period)
    image = torch.cat([window, window.new_zeros(rows * period - count, window.shape[1])])
    image = image.reshape(rows, period, -1).permute(2, 0, 1)[None]
    image = inception(block.images[2], gelu(inception(block.images[0], image)))
    return image[0].permute(1, 2, 0).reshape(rows * period, -1)[:count]


# -- TFTResidual -------------------------------------------------------------------------------


def per_variable(layer: Any, x: Tensor) -> Tensor:
    return torch.einsum("...ni,nio->...no", x, layer.weight) + layer.bias


def residual(layer: Any, x: Tensor, context: Tensor | None = None) -> Tensor:
    own = layer.first.weight.dim() == 3
    first, second, last = (
        (lambda h, part=part: per_variable(part, h)) if own else part
        for part in (layer.first, layer.second, layer.gate.linear)
    )
    h = first(x)
    if layer.context is not None:
        h = h + layer.context(context)
    dropped = layer.gate.dropout(glu(last(second(elu(h)))))
    return layer.gate.norm(layer.shortcut(x) + dropped)


def selection(layer: Any, x: Tensor, context: Tensor) -> Tensor:
    embedded = per_variable(layer.embedding, x[..., None])
    share = residual(layer.weight, embedded.flatten(-2), context).softmax(-1)
    return torch.einsum("btn,btnd->btd", share, residual(layer.each, embedded))


def tft_residual(detector: Any, net: Any, x: Tensor) -> Tensor:
    n = detector.horizon
    context = residual(net.context, net.summary(x[:, :-n].mean(1)))[:, None]
    past = selection(net.select_past, x[:, :-n], context)
    future = selection(net.select_future, net.future.expand(len(x), -1, -1), context)
    read, state = net.encoder(past)
    ahead, _ = net.decoder(future, state)
    local = net.local(torch.cat([read, ahead], dim=1), torch.cat([past, future], dim=1))
    enriched = residual(net.enrich, local, context)
    attended = net.attended(net.attention(enriched, n), enriched[:, -n:])
    out = net.last(residual(net.feed, attended), local[:, -n:])
    losses = []
    for level, forecast in zip(QUANTILES, net.head(out).chunk(3, dim=-1), strict=True):
        short = x[:, -n:] - forecast
        losses.append(torch.maximum(level * short, (level - 1) * short))
    return torch.stack(losses).mean()


# -- variational autoencoders ------------------------------------------------------------------


def gaussian_head(head: Any, x: Tensor) -> Gaussian:
    return Gaussian(head.mean(x), (softplus(head.spread(x)) + 1e-8).sqrt())


def wvae(detector: Any, net: Any, x: Tensor) -> Tensor:
    noisy = x + detector.noise * torch.randn_like(x)
    with torch.random.fork_rng():  # its initial weights are replaced below
        encoder = nn.LSTM(x.shape[2], detector.width, batch_first=True, bidirectional=True)
    states = functional_call(encoder, dict(net.encoder.named_parameters()), noisy)[0]
    q = gaussian_head(net.latent, states[:, -1])
    z = q.draw()[:, None].expand(-1, x.shape[1], -1)
    p = gaussian_head(net.output, net.decoder(z)[0])
    weight = warm_up(EPOCH, end=detector.kl_weight)
    return p.nll(x).sum(1).mean() + weight * kl(q).sum(-1).mean()


TWINS: dict[str, Twin] = {
    "AnomalyTransformer": anomaly_transformer,
    "TFTResidual": tft_residual,
    "WVAE": wvae,
}
