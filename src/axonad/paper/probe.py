"""What a fitted AxonAD does inside, window by window: a look that changes nothing.

The paper's diagnostics compare predicted queries q̂ with the target's q* in two ways. *Deviation* is
how far they lie apart, ‖q̂ - q*‖. *Divergence* is what that does to attention, KL(A* ‖ Â), A* and Â
being the attention of q* and q̂ on the window's keys up to τ - s, the last the predictor knows of.
Both are averaged over heads and the last k steps, as d_q is; so is the entropy of A*, in nats.

Training and score know only the direction of q̂: its *length*, here relative to that of q*, is left
to itself, and short queries attend evenly to everything. Hence a second divergence that is ours,
*turn*: the same with every q̂ given the length of its q*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from axonad.axon import SCORE_BATCH, AxonAD
from axonad.data.frames import Matrix
from axonad.data.windows import count_windows
from axonad.errors import ConfigError, InputError
from axonad.fast.choose import run_windows
from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads
from axonad.model.net import AxonNet, Output
from axonad.paper.variant_net import log_map, map_divergence
from axonad.score.terms import EPS, TERMS
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.windows import gather_windows

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Of every window (windows,): both parts of the score in robust units, and what is inside."""

    d_rec: Array
    d_q: Array
    deviation: Array
    divergence: Array
    turn: Array
    length: Array
    entropy: Array


class QueryPath(NamedTuple):
    """Directions of predicted and target queries, each head's of length 1, (steps, D) each.

    They are those of the last step of successive windows.
    """

    predicted: Array
    target: Array


def probe(detector: AxonAD, X: Matrix) -> Probe:
    """Return what a fitted detector does in every window of a series (n, F), a pass at a time."""
    net, series = _ready(detector, X)
    windows = count_windows(len(X), detector.window)
    found = {name: torch.empty(windows, device=series.device) for name in Probe.__annotations__}

    def consume(first: int, output: Output, x: Tensor) -> None:
        part = slice(first, first + len(x))
        for name, values in _look(net, output, x).items():
            found[name][part] = values

    with torch.no_grad():
        run_windows(net, series, batch_size=SCORE_BATCH, consume=consume)
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    return Probe(**arrays | {name: detector.scales_[name].apply(arrays[name]) for name in TERMS})


def probe_training(detector: AxonAD, X: Matrix) -> Probe:
    """Return the same of the windows its robust units come from, X being what it was fitted on."""
    return probe(detector, X[: detector.count_training_rows(len(X))])


def widest_entropy(detector: AxonAD) -> float:
    """Return the entropy of attention that looks at every key it may: the most there can be."""
    config = detector.net_config(channels=1)
    steps = np.arange(config.window)[-config.scored_steps :]
    return float(np.log(np.maximum(steps - config.horizon, 0) + 1).mean())


def query_path(detector: AxonAD, X: Matrix, first: int, stop: int) -> QueryPath:
    """Return queries of the steps ``first`` to ``stop`` - 1, each as the last of its window."""
    begin = first - detector.window + 1
    if begin < 0 or stop > len(X) or first >= stop:
        raise InputError(
            f"steps {first} to {stop} must lie between {detector.window - 1} and {len(X)}"
        )
    net, series = _ready(detector, X)
    parts: list[tuple[Tensor, Tensor]] = []
    with torch.no_grad():
        for at in range(begin, begin + stop - first, SCORE_BATCH):
            end = min(at + SCORE_BATCH, begin + stop - first)
            x = gather_windows(series, torch.arange(at, end, device=series.device), detector.window)
            output = net(x, last=1)
            predicted, target = (
                normalize(output.predicted, dim=-1),
                normalize(output.target, dim=-1),
            )
            parts.append((predicted.flatten(1), target.flatten(1)))
    return QueryPath(*(torch.cat(p).double().cpu().numpy() for p in zip(*parts, strict=True)))


def _ready(detector: AxonAD, X: Matrix) -> tuple[AxonNet, Tensor]:
    """Return the detector's network and the scaled series, both on its device."""
    detector.check_fitted()
    if not detector.net_config(channels=1).is_standard:
        raise ConfigError("a probe looks at predicted queries; this variant predicts others")
    device = resolve_device(detector.device)
    return detector.net_.to(device).eval(), detector.scaled(X, device)


def _look(net: AxonNet, output: Output, x: Tensor) -> dict[str, Tensor]:
    """Return every number of a probe for a batch of windows, parts of the score still raw."""
    config: NetConfig = net.config
    last = config.scored_steps
    predicted, target = output.predicted[:, :, -last:], output.target[:, :, -last:]
    keys = split_heads(net.attention.key(net.online(x)[1]), config.heads)
    length = predicted.norm(dim=-1, keepdim=True) / target.norm(dim=-1, keepdim=True).clamp(EPS)
    actual = log_map(target, keys, horizon=config.horizon)
    expected, turned = (
        log_map(q, keys, horizon=config.horizon) for q in (predicted, predicted / length.clamp(EPS))
    )
    return {
        **{name: term(output, x, config) for name, term in TERMS.items()},
        "deviation": (predicted - target).norm(dim=-1).mean((1, 2)),
        "divergence": map_divergence(expected, actual).mean(1),
        "turn": map_divergence(turned, actual).mean(1),
        "length": length.mean((1, 2, 3)),
        "entropy": -(actual.exp() * actual).sum(-1).mean((1, 2)),
    }
