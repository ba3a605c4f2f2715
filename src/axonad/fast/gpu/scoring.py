"""The network on a graphics card, for scoring: few large launches, in the numbers asked for."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from axonad.fast.gpu.layout import Layout, Weights
from axonad.fast.gpu.stack import decode, encode, predict, seen_by_predictor, target_queries
from axonad.model.net import AxonNet, Output

ALIGNED = 8  # channels: rows of 16 bytes at least, also in bfloat16


class GpuNet:
    """The outputs of a network as it is now: what ``AxonNet`` gives, as a stack of one model.

    Inside ``torch.autocast("cuda", dtype=torch.bfloat16)`` it computes in that type, with half the
    memory traffic; otherwise as exactly as the network's own numbers are. ``fused`` asks for the
    kernels of ``fused.py``. Channels are filled up with zeros to what products read fastest.
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
        self._more = -net.config.channels % ALIGNED
        self._weights = self._widen(layout.weights(rows.to(self._dtype)))
        self._target = self._widen(layout.weights(target.to(self._dtype)))

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Output:
        """Return what a score needs of windows (B, T, F); queries of the scored steps alone."""
        with torch.autocast(x.device.type, enabled=False):
            found = self._outputs(x[None].to(self._dtype))
        return Output(*(part.to(x.dtype) for part in found))

    def _outputs(self, x: Tensor) -> Output:
        config, w, last = self._config, self._weights, self._config.scored_steps
        x = pad(x, (0, self._more))
        h, H = encode(x, w, fused=self._fused)
        predicted = predict(seen_by_predictor(H, config, last), w, config, last, ())
        rows, position = x[:, :, -last:].transpose(1, 2), self._target["online.position"]
        target = target_queries(rows, position[:, -last:, None], self._target)
        reconstruction = decode(h, H, w, config.heads, x.dtype, fused=self._fused)
        found = reconstruction[0, ..., : config.channels]
        return Output(found, self._by_window(predicted), self._by_window(target))

    def _widen(self, weights: Weights) -> Weights:
        """Return the weights for windows with more channels, which are zero and stay so."""
        wide = dict(weights)
        wide["online.embed.weight"] = pad(weights["online.embed.weight"], (0, self._more))
        if "head.weight" in weights:
            wide["head.weight"] = pad(weights["head.weight"], (0, 0, 0, self._more))
            wide["head.bias"] = pad(weights["head.bias"], (0, self._more))
        return wide

    def _by_window(self, queries: Tensor) -> Tensor:
        """Return (B, N, T, d) from (1, T, B, D)."""
        steps, windows, _ = queries.shape[1:]
        return queries.view(steps, windows, self._config.heads, -1).permute(1, 2, 0, 3)
