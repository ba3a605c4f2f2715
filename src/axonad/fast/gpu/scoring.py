"""The forward pass of one network on a GPU: few kernel launches, reduced precision on request."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from axonad.fast.gpu.layout import Layout, Weights
from axonad.fast.gpu.stack import decode, encode, predict, seen_by_predictor, target_queries
from axonad.model.net import AxonNet, Output

ALIGN = 8  # channels: rows are multiples of 16 bytes also in bfloat16


class GpuNet:
    """A network's forward pass as a stack of one model, with the weights at construction.

    It computes in the dtype of the weights, or inside ``torch.autocast`` in the dtype of autocast:
    bfloat16 halves the memory traffic. ``fused`` selects the kernels of ``fused.py``. Channels are
    padded with zeros to a multiple of 8, for fast matrix products.
    """

    @torch.no_grad()
    def __init__(self, net: AxonNet, *, fused: bool = False) -> None:
        device = net.head.weight.device.type
        self._dtype = net.head.weight.dtype
        if torch.is_autocast_enabled(device):
            self._dtype = torch.get_autocast_dtype(device)
        layout = Layout(net)
        rows, target = layout.pack([net])
        self._config = net.config
        self._fused = fused
        self._padding = -net.config.channels % ALIGN
        self._weights = self._widen(layout.weights(rows.to(self._dtype)))
        self._target = self._widen(layout.weights(target.to(self._dtype)))

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Output:
        """Return the output for windows (B, T, F), with queries of the scored steps only."""
        with torch.autocast(x.device.type, enabled=False):
            found = self._outputs(x[None].to(self._dtype))
        return Output(*(part.to(x.dtype) for part in found))

    def _outputs(self, x: Tensor) -> Output:
        config, w, last = self._config, self._weights, self._config.scored_steps
        x = pad(x, (0, self._padding))
        h, H = encode(x, w, fused=self._fused)
        predicted = predict(seen_by_predictor(H, config, last), w, config, last, ())
        rows, position = x[:, :, -last:].transpose(1, 2), self._target["online.position"]
        target = target_queries(rows, position[:, -last:, None], self._target)
        reconstruction = decode(h, H, w, config.heads, x.dtype, fused=self._fused)
        found = reconstruction[0, ..., : config.channels]
        return Output(found, self._by_window(predicted), self._by_window(target))

    def _widen(self, weights: Weights) -> Weights:
        """Return the weights for padded channels, which are zero in input and output."""
        wide = dict(weights)
        wide["online.embed.weight"] = pad(weights["online.embed.weight"], (0, self._padding))
        if "head.weight" in weights:
            wide["head.weight"] = pad(weights["head.weight"], (0, 0, 0, self._padding))
            wide["head.bias"] = pad(weights["head.bias"], (0, self._padding))
        return wide

    def _by_window(self, queries: Tensor) -> Tensor:
        """Return queries (1, T, B, D) as (B, N, T, d)."""
        steps, windows, _ = queries.shape[1:]
        return queries.view(steps, windows, self._config.heads, -1).permute(1, 2, 0, 3)
