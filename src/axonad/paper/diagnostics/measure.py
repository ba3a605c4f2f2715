"""From a probe to the numbers of the diagnostics: one dict per series, all of it named here.

A part is *high* in a window where it lies above its 95 % quantile over the training windows, *low*
elsewhere; no label enters. A window is anomalous if it holds a labelled step. The paper names
neither rule, so there are two more readings: ``placed`` shares are of the windows whose score is
placed on a labelled step, and ``ranked`` ones take the quantiles of the windows scored.
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
TOP = 0.99  # quantile of the windows scored, above which the sum is looked at
JUDGED = ("AUC-PR", "VUS-PR")
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
QUALITY = tuple(f"{metric} {rule}" for metric in JUDGED for rule in RULES)
MEASURES: tuple[str, ...] = (
    *(f"{name}{end}" for name in ESTIMATES for end in ("", " low", " high")), *SINGLE, *QUALITY,
)  # fmt: skip
"""Every number of the diagnostics, in the order of their columns."""


def thresholds(train: Probe) -> dict[str, float]:
    """Return what counts as high, from training windows alone: of each part and of the sum."""
    parts = {"d_rec": train.d_rec, "d_q": train.d_q, "sum": train.d_rec + train.d_q}
    return {name: float(np.quantile(values, HIGH)) for name, values in parts.items()}


def holds_label(labels: NDArray[np.int8], window: int) -> Mask:
    """Return for every window whether it holds a labelled step."""
    counts = np.concatenate([[0], np.cumsum(labels, dtype=np.int64)])
    held: Mask = counts[window:] > counts[:-window]
    return held


def measure_inside(scored: Probe, *, window: int, seed: int) -> dict[str, float]:
    """Return what needs no label: correlations, entropy, tails."""
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
        found |= _name(name, block_correlation(x, y, block=block, seed=seed))
    for text, level in (("q99", 0.99), ("q999", 0.999)):
        for name in ("d_rec", "d_q"):
            found[f"{text} {name}"] = float(np.quantile(getattr(scored, name), level))
    found["tail ratio"] = _ratio(found["q99 d_rec"], found["q99 d_q"])
    found["far tail ratio"] = _ratio(found["q999 d_rec"], found["q999 d_q"])
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
    """Return which shares of anomalous windows show in one part alone, in either direction."""
    rec, q = scored.d_rec > limits["d_rec"], scored.d_q > limits["d_q"]
    top_rec, top_q = (v > np.quantile(v, HIGH) for v in (scored.d_rec, scored.d_q))
    held = holds_label(labels, window)
    there = place(window, align)
    placed = labels[there : there + held.size] > 0
    block = block_length(held.size, window)
    asked = {
        "query only": (q & ~rec, held),
        "reconstruction only": (rec & ~q, held),
        "both high": (rec & q, held),
        "query only placed": (q & ~rec, placed),
        "reconstruction only placed": (rec & ~q, placed),
        "query only ranked": (top_q & ~top_rec, held),
        "reconstruction only ranked": (top_rec & ~top_q, held),
    }
    found = {"anomalous windows": float(held.sum())}
    for name, (part, among) in asked.items():
        found |= _name(name, block_share(part, among, block=block, seed=seed))
    return found | {f"threshold {name}": value for name, value in limits.items()}


def measure_quality(parts: Parts, labels: NDArray[np.int8], *, vus_window: int) -> dict[str, float]:
    """Return AUC-PR and VUS-PR of each part, of the paper's sum and of other rules."""
    found: dict[str, float] = {}
    for rule, score in RULES.items():
        result = evaluate(score(parts), labels, window=vus_window, metrics=JUDGED)
        found |= {f"{metric} {rule}": result[metric] for metric in JUDGED}
    return found


def _top_share(part: Array, total: Array) -> float:
    """Return how much of the highest sums is due to a part: the median share, 0 to 1."""
    top = total >= np.quantile(total, TOP)
    positive = top & (total > 0)
    if not positive.any():
        return math.nan
    return float(np.median(np.clip(part[positive] / total[positive], 0, 1)))


def _ratio(above: float, below: float) -> float:
    return above / below if above > 0 and below > 0 else math.nan


def _name(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, f"{name} low": found.low, f"{name} high": found.high}
