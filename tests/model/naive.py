"""A small network, and slow, obvious twins of its parts in numpy loops and float64."""

from __future__ import annotations

import numpy as np
import torch

from axonad.model.config import NetConfig
from axonad.model.net import AxonNet


def weight(module, name="weight"):
    return getattr(module, name).detach().double().numpy()


def layer_norm(x, module):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(var + module.eps) * weight(module) + weight(module, "bias")


def embed(x, encoder):
    """x (T, F) → h, H, q (T, D) without splitting heads."""
    h = x @ weight(encoder.embed).T + weight(encoder.embed, "bias")
    h = h + encoder.position.detach().double().numpy()
    H = layer_norm(h, encoder.norm)
    return h, H, H @ weight(encoder.query).T


def attention(q, H, module):
    """Softmax attention, one head, one query at a time; (T, D) → (T, D)."""
    steps, width = H.shape
    d = width // module.heads
    k, v = H @ weight(module.key).T, H @ weight(module.value).T
    context = np.zeros((steps, width))
    for head in range(module.heads):
        part = slice(head * d, (head + 1) * d)
        for t in range(steps):
            logits = np.array([q[t, part] @ k[u, part] / np.sqrt(d) for u in range(steps)])
            weights = np.exp(logits - logits.max())
            weights /= weights.sum()
            context[t, part] = sum(weights[u] * v[u, part] for u in range(steps))
    return context @ weight(module.out).T + weight(module.out, "bias")


def reconstruct(x, net):
    h, H, q = embed(x, net.online)
    h = h + attention(q, H, net.attention)
    z = np.maximum(layer_norm(h, net.norm) @ weight(net.widen).T + weight(net.widen, "bias"), 0)
    h = h + z @ weight(net.narrow).T + weight(net.narrow, "bias")
    return h @ weight(net.head).T + weight(net.head, "bias")


def predict_queries(H, predictor):
    """Dilated causal convolutions written as sums over taps; (T, D) → (T, D)."""
    steps, width = H.shape
    z = np.zeros((steps, width))
    for t in range(steps):
        if t - predictor.config.horizon >= 0:
            z[t] = H[t - predictor.config.horizon]
    for conv, dilation in zip(predictor.convolutions, predictor.config.dilations, strict=True):
        kernel = weight(conv)  # (out, in, 3): the last tap is the present
        out = np.zeros_like(z)
        for t in range(steps):
            out[t] = weight(conv, "bias")
            for tap in range(3):
                source = t - (2 - tap) * dilation
                if source >= 0:
                    out[t] += kernel[:, :, tap] @ z[source]
        z = np.maximum(out, 0)
    return z @ weight(predictor.out)[:, :, 0].T + weight(predictor.out, "bias")


def cosine_distance(a, b):
    return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def query_mismatch(x, net):
    """d_q of one window by the paper's sums."""
    config = net.config
    _, H, _ = embed(x, net.online)
    _, _, target = embed(x, net.target.encoder)
    predicted = predict_queries(H, net.predictor)
    d = config.d_model // config.heads
    first = max(config.horizon + 1, config.window - config.tail + 1)  # the paper counts from 1
    total = 0.0
    for head in range(config.heads):
        part = slice(head * d, (head + 1) * d)
        for tau in range(first, config.window + 1):
            total += cosine_distance(predicted[tau - 1, part], target[tau - 1, part])
    return total / (config.heads * (config.window - first + 1))


def make_net(seed=0, **changes) -> AxonNet:
    settings = {
        "channels": 3, "window": 20, "d_model": 8, "heads": 2, "horizon": 1, "tail": 5,
        "ema": 0.9, "dropout": 0.1, "dilations": (1, 2, 4),
    }  # fmt: skip
    torch.manual_seed(seed)
    net = AxonNet(NetConfig(**{**settings, **changes}))
    with torch.no_grad():  # a target unlike the online encoder, so that mixing them up shows
        for p in net.target.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return net.eval()


def window(net, seed=1, batch=2):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, net.config.window, net.config.channels, generator=generator)
