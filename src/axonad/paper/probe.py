"""Internal quantities of a fitted AxonAD for every window of a series.

The paper's diagnostics compare predicted queries q̂ with the target's q* in two ways. *Deviation* is
their distance ‖q̂ - q*‖. *Divergence* is its effect on attention, KL(A* ‖ Â), where A* and Â are the
attention of q* and q̂ over the window's keys up to τ - s, the last one the predictor sees. Both are
averaged over heads and the last k steps, as d_q is; so is the entropy of A*, in nats.

Training and score depend only on the direction of q̂. Its *length*, given here relative to that of
q*, is unconstrained, and the attention of short queries is nearly uniform. So we add a second
divergence, *turn*, in which every q̂ has the length of its q*.
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
    """Arrays (windows,): the standardised terms of the score, and the quantities above."""

    d_rec: Array
    d_q: Array
    deviation: Array
    divergence: Array
    turn: Array
    length: Array
    entropy: Array


class QueryPath(NamedTuple):
    """Predicted and target queries (steps, D) of the last step of successive windows.

    Each head's query has length 1.
    """

    predicted: Array
    target: Array


def probe(detector: AxonAD, X: Matrix) -> Probe:
    """Return the probe of every window of a series (n, F)."""
    net, series = prepare_probe(detector, X)
    windows = count_windows(len(X), detector.window)
    found = {name: torch.empty(windows, device=series.device) for name in Probe.__annotations__}

    def consume(first: int, output: Output, x: Tensor) -> None:
        part = slice(first, first + len(x))
        for name, values in _measure(net, output, x).items():
            found[name][part] = values

    with torch.no_grad():
        run_windows(net, series, batch_size=SCORE_BATCH, consume=consume)
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    return Probe(**arrays | {name: detector.scales_[name].apply(arrays[name]) for name in TERMS})


def probe_training(detector: AxonAD, X: Matrix) -> Probe:
    """Return the probe of the training windows, given the series ``X`` that was fitted."""
    return probe(detector, X[: detector.count_training_rows(len(X))])


def widest_entropy(detector: AxonAD) -> float:
    """Return the entropy of uniform attention over all visible keys, the upper bound."""
    config = detector.net_config(channels=1)
    steps = np.arange(config.window)[-config.scored_steps :]
    return float(np.log(np.maximum(steps - config.horizon, 0) + 1).mean())


def query_path(detector: AxonAD, X: Matrix, first: int, stop: int) -> QueryPath:
    """Return the queries of steps ``first`` to ``stop`` - 1, each as last step of its window."""
    begin = first - detector.window + 1
    if begin < 0 or stop > len(X) or first >= stop:
        raise InputError(
            f"steps {first} to {stop} must lie between {detector.window - 1} and {len(X)}"
        )
    net, series = prepare_probe(detector, X)
    parts: list[list[Tensor]] = []
    with torch.no_grad():
        for at in range(begin, begin + stop - first, SCORE_BATCH):
            end = min(at + SCORE_BATCH, begin + stop - first)
            x = gather_windows(series, torch.arange(at, end, device=series.device), detector.window)
            output = net(x, last=1)
            queries = output.predicted, output.target
            parts.append([normalize(q, dim=-1).flatten(1) for q in queries])
    return QueryPath(*(torch.cat(p).double().cpu().numpy() for p in zip(*parts, strict=True)))


def prepare_probe(detector: AxonAD, X: Matrix) -> tuple[AxonNet, Tensor]:
    """Return the detector's network and the scaled series on its device."""
    detector.check_fitted()
    if not detector.net_config(channels=1).is_standard:
        raise ConfigError(
            "a probe needs the paper's network, which this variant changes; use AxonAD"
        )
    device = resolve_device(detector.device)
    return detector.net_.to(device).eval(), detector.scaled(X, device)


def _measure(net: AxonNet, output: Output, x: Tensor) -> dict[str, Tensor]:
    """Return all quantities of a probe for a batch of windows, with unstandardised terms."""
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
