"""AxonAD computed straightforwardly, as the paper writes it: the reference for speed comparisons.

It computes every step of every window: convolutions over the whole window and the whole target,
with nothing shared between windows, one batch after another, each operation on all threads. It uses
the same weights and gives the same scores.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import (
    conv1d,
    dropout,
    layer_norm,
    linear,
    mse_loss,
    normalize,
    pad,
    relu,
    scaled_dot_product_attention,
)

from axonad.model.net import AxonNet
from axonad.train.mask import draw_blocks, mask_blocks, mask_plan

BATCH = 128


def encode(encoder, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    h = linear(x, encoder.embed.weight, encoder.embed.bias) + encoder.position
    norm = encoder.norm
    H = layer_norm(h, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
    return h, H, linear(H, encoder.query.weight)


def split(q: Tensor, heads: int) -> Tensor:
    return q.view(*q.shape[:2], heads, -1).transpose(1, 2)


def forward(net: AxonNet, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return reconstruction, predicted queries and target queries of all steps."""
    heads, attention, predictor = net.config.heads, net.attention, net.predictor
    h, H, q = encode(net.online, x)
    k, v = attention.key(H), attention.value(H)
    context = scaled_dot_product_attention(*(split(part, heads) for part in (q, k, v)))
    h = h + attention.out(context.transpose(1, 2).flatten(2))
    h = h + net.narrow(relu(net.widen(net.norm(h))))
    z = pad(H, (0, 0, net.config.horizon, 0))[:, : net.config.window].transpose(1, 2)
    for layer, dilation in zip(predictor.convolutions, net.config.dilations, strict=True):
        z = conv1d(pad(z, (2 * dilation, 0)), layer.weight, layer.bias, dilation=dilation)
        z = dropout(relu(z), net.config.dropout, net.training)
    predicted = conv1d(z, predictor.out.weight, predictor.out.bias).transpose(1, 2)
    with torch.no_grad():
        target = encode(net.target.encoder, x)[2]
    return net.head(h), split(predicted, heads), split(target, heads)


def distance(predicted: Tensor, target: Tensor) -> Tensor:
    return (1 - (normalize(predicted, dim=-1) * normalize(target, dim=-1)).sum(-1)).mean(1)


def batches(series: Tensor, window: int, order: Tensor):
    steps = torch.arange(window, device=series.device)
    for starts in torch.split(order, BATCH):
        yield starts, series[starts[:, None] + steps]


@torch.no_grad()
def score(net: AxonNet, series: Tensor) -> tuple[Tensor, Tensor]:
    """Return d_rec and d_q of every window."""
    net.eval()
    order = torch.arange(len(series) - net.config.window + 1, device=series.device)
    d_rec, d_q = (series.new_empty(len(order)) for _ in range(2))
    for starts, x in batches(series, net.config.window, order):
        found, predicted, target = forward(net, x)
        d_rec[starts] = (found - x).square().sum(-1).mean(-1)
        d_q[starts] = distance(predicted, target)[:, -net.config.scored_steps :].mean(-1)
    return d_rec, d_q


def train(net: AxonNet, series: Tensor, *, lr: float = 5e-4, weight_decay: float = 1e-5) -> None:
    """Train for one epoch, every window once, with the loop of the paper."""
    net.train()
    config = net.config
    variances = torch.zeros(2, device=series.device, requires_grad=True)
    weights = [*(p for p in net.parameters() if p.requires_grad), variances]
    optimiser = torch.optim.AdamW(weights, lr=lr, weight_decay=weight_decay)
    plan = mask_plan(
        window=config.window, horizon=config.horizon, mask_ratio=0.5, block_fraction=0.5
    )
    order = torch.randperm(len(series) - config.window + 1, device=series.device)
    for _, x in batches(series, config.window, order):
        starts = draw_blocks(len(x), window=config.window, plan=plan, device=series.device)
        mask = mask_blocks(starts, config.window, plan.span)
        found, predicted, target = forward(net, x)
        mismatch = (distance(predicted, target) * mask).sum() / mask.sum()
        parts = torch.stack([mse_loss(found, x), mismatch])
        optimiser.zero_grad()
        ((-variances).exp() * parts + variances).sum().backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        with torch.no_grad():
            online, slow = net.online.parameters(), net.target.parameters()
            for theirs, ours in zip(slow, online, strict=True):
                theirs.mul_(config.ema).add_(ours, alpha=1 - config.ema)
