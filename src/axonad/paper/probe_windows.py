"""Internal quantities of chosen windows, by the rules of the authors' script.

They differ from those of :mod:`axonad.paper.probe` in three points. Predicted queries are compared
with the network's own (online) queries q, not with the target's q*. Deviation and divergence are
given for each head. And a head's deviation is the root of the mean square of ‖q - q̂‖ over the last
k steps, not the mean. The terms are not standardised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from axonad.axon import SCORE_BATCH, AxonAD
from axonad.data.frames import Matrix
from axonad.model.embedding import split_heads
from axonad.model.net import AxonNet
from axonad.paper.probe import prepare_probe
from axonad.paper.variant_net import log_map
from axonad.score.terms import TERMS
from axonad.torch_runtime.threads import one_thread
from axonad.torch_runtime.windows import gather_windows

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WindowProbe:
    """Terms and entropy (windows,); deviation and divergence (windows, heads)."""

    d_rec: Array
    d_q: Array
    deviation: Array
    divergence: Array
    entropy: Array


def probe_windows(detector: AxonAD, X: Matrix, starts: NDArray[np.intp]) -> WindowProbe:
    """Return the probe of the windows of a series (n, F) that begin at ``starts``."""
    net, series = prepare_probe(detector, X)
    parts: list[dict[str, Tensor]] = []
    with one_thread(), torch.no_grad():
        for batch in torch.split(torch.as_tensor(starts, device=series.device), SCORE_BATCH):
            parts.append(_measure(net, gather_windows(series, batch, detector.window)))
    return WindowProbe(
        **{
            name: torch.cat([part[name] for part in parts]).double().cpu().numpy()
            for name in WindowProbe.__annotations__
        }
    )


def _measure(net: AxonNet, x: Tensor) -> dict[str, Tensor]:
    config, last = net.config, net.config.scored_steps
    output = net(x, last=last)
    _, H, queries = net.online(x)
    own = queries[:, :, -last:]
    keys = split_heads(net.attention.key(H), config.heads)
    actual, expected = (log_map(q, keys, horizon=config.horizon) for q in (own, output.predicted))
    return {
        **{name: term(output, x, config) for name, term in TERMS.items()},
        "deviation": (own - output.predicted).square().sum(-1).mean(-1).sqrt(),
        "divergence": (actual.exp() * (actual - expected)).sum(-1).mean(-1),
        "entropy": -(actual.exp() * actual).sum(-1).mean((1, 2)),
    }
