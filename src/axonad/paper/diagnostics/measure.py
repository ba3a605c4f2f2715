"""From a probe to the measures of the diagnostics: one dict per series, with the names listed here.

A part of the score is *high* in a window where it exceeds its 95 % quantile over the training
windows, and *low* elsewhere; labels play no role. A window is anomalous if it contains a labelled
step. The paper states neither rule, so there are two alternatives: ``placed`` shares count the
windows whose score is placed on a labelled step, ``ranked`` shares use quantiles of the scored
windows. The rules of the authors' script are in :mod:`axonad.paper.diagnostics.as_run`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import mean_ranks, spearman
from axonad.data.windows import place
from axonad.metrics import evaluate
from axonad.paper.diagnostics.blocks import (
    Estimate,
    block_correlation,
    block_length,
    block_share,
)
from axonad.paper.diagnostics.rules import RULES, Parts

if TYPE_CHECKING:
    from axonad.paper.probe import Probe

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
HIGH = 0.95  # quantile of the training windows
TOP = 0.99  # quantile of the scored windows, for "top share d_rec"
METRICS = ("AUC-PR", "VUS-PR")
ESTIMATES = (
    "kl spearman", "kl spearman d_q", "turn spearman d_q", "parts pearson", "parts spearman",
    "query only", "reconstruction only", "both high", "query only placed",
    "reconstruction only placed", "query only ranked", "reconstruction only ranked",
)  # fmt: skip
SINGLE = (
    "windows", "anomalous windows", "block", "entropy", "entropy widest", "length",
    "threshold d_rec", "threshold d_q", "threshold sum", "q99 d_rec", "q99 d_q", "q999 d_rec",
    "q999 d_q", "tail ratio", "far tail ratio", "sum spearman d_rec", "sum spearman d_q",
    "top share d_rec",
)  # fmt: skip
QUALITY = tuple(f"{metric} {rule}" for metric in METRICS for rule in RULES)
MEASURES: tuple[str, ...] = (
    *(f"{name}{end}" for name in ESTIMATES for end in ("", " low", " high")), *SINGLE, *QUALITY,
)  # fmt: skip
"""The name of every measure, in the order of the columns."""


def thresholds(train: Probe) -> dict[str, float]:
    """Return the thresholds of each part and of the sum: their 95 % quantile in training."""
    parts = {"d_rec": train.d_rec, "d_q": train.d_q, "sum": train.d_rec + train.d_q}
    return {name: float(np.quantile(values, HIGH)) for name, values in parts.items()}


def contains_label(labels: NDArray[np.int8], window: int) -> Mask:
    """Return for every window whether it contains a labelled step."""
    counts = np.concatenate([[0], np.cumsum(labels, dtype=np.int64)])
    contains: Mask = counts[window:] > counts[:-window]
    return contains


def measure_inside(scored: Probe, *, window: int, seed: int) -> dict[str, float]:
    """Return the measures that need no labels: correlations, entropy, tails."""
    block = block_length(scored.d_rec.size, window)
    ranked = {name: mean_ranks(getattr(scored, name)) for name in ("d_rec", "d_q")}
    total = scored.d_rec + scored.d_q
    divergence = mean_ranks(scored.divergence)
    pairs = {
        "kl spearman": (mean_ranks(scored.deviation), divergence),
        "kl spearman d_q": (ranked["d_q"], divergence),
        "turn spearman d_q": (ranked["d_q"], mean_ranks(scored.turn)),
        "parts pearson": (scored.d_rec, scored.d_q),
        "parts spearman": (ranked["d_rec"], ranked["d_q"]),
    }
    found = {
        "windows": float(total.size),
        "block": float(block),
        "entropy": float(scored.entropy.mean()),
        "length": float(np.median(scored.length)),
        **{f"sum spearman {name}": spearman(total, rank) for name, rank in ranked.items()},
        "top share d_rec": _top_share(scored.d_rec, total),
    }
    for name, (x, y) in pairs.items():
        found |= _with_bounds(name, block_correlation(x, y, block=block, seed=seed))
    for quantile, level, ratio in (("q99", 0.99, "tail ratio"), ("q999", 0.999, "far tail ratio")):
        rec, q = (float(np.quantile(part, level)) for part in (scored.d_rec, scored.d_q))
        found |= {f"{quantile} d_rec": rec, f"{quantile} d_q": q}
        found[ratio] = rec / q if rec > 0 and q > 0 else math.nan
    return found


def measure_regimes(
    scored: Probe,
    labels: NDArray[np.int8],
    limits: Mapping[str, float],
    *,
    window: int,
    align: str,
    seed: int,
) -> dict[str, float]:
    """Return the shares of anomalous windows in which one part alone, or both, are high."""
    rec, q = scored.d_rec > limits["d_rec"], scored.d_q > limits["d_q"]
    top_rec, top_q = (v > np.quantile(v, HIGH) for v in (scored.d_rec, scored.d_q))
    anomalous = contains_label(labels, window)
    step = place(window, align)
    placed = labels[step : step + anomalous.size] > 0
    block = block_length(anomalous.size, window)
    regimes = {
        "query only": (q & ~rec, anomalous),
        "reconstruction only": (rec & ~q, anomalous),
        "both high": (rec & q, anomalous),
        "query only placed": (q & ~rec, placed),
        "reconstruction only placed": (rec & ~q, placed),
        "query only ranked": (top_q & ~top_rec, anomalous),
        "reconstruction only ranked": (top_rec & ~top_q, anomalous),
    }
    found = {"anomalous windows": float(anomalous.sum())}
    for name, (part, among) in regimes.items():
        found |= _with_bounds(name, block_share(part, among, block=block, seed=seed))
    return found | {f"threshold {name}": value for name, value in limits.items()}


def measure_quality(parts: Parts, labels: NDArray[np.int8], *, vus_window: int) -> dict[str, float]:
    """Return AUC-PR and VUS-PR of every rule that combines the two parts."""
    found: dict[str, float] = {}
    for rule, score in RULES.items():
        result = evaluate(score(parts), labels, window=vus_window, metrics=METRICS)
        found |= {f"{metric} {rule}": result[metric] for metric in METRICS}
    return found


def _top_share(part: Array, total: Array) -> float:
    """Return the median share of a part in the highest sums, between 0 and 1."""
    top = (total >= np.quantile(total, TOP)) & (total > 0)
    if not top.any():
        return math.nan
    return float(np.median(np.clip(part[top] / total[top], 0, 1)))


def _with_bounds(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, f"{name} low": found.low, f"{name} high": found.high}
