"""The figure of a budget: faults found against false events per hour, as the threshold moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import find_segments
from axonad.errors import InputError
from axonad.metrics.ranges import find_ranges
from axonad.report.drawing import GRAY, MARKERS, PALETTE, new_figure, save_figure, trim_axis

THRESHOLDS = 200


@dataclass(frozen=True, kw_only=True)
class BudgetCurve:
    """Share of faults found and false events per hour, one pair per threshold, highest first."""

    thresholds: NDArray[np.float64]
    found: NDArray[np.float64]
    false_per_hour: NDArray[np.float64]

    def found_at(self, budget: float) -> float:
        """Return the largest share found with at most ``budget`` false events per hour."""
        return float(self.found[self.false_per_hour <= budget].max(initial=0.0))


def budget_curve(
    scores: ArrayLike, labels: ArrayLike, *, seconds_per_step: float, gap: int = 0
) -> BudgetCurve:
    """Return what every threshold would find, and what it would cost.

    An event counts for a fault if it begins inside it or at most ``gap`` steps before; an alarm
    that is always on finds nothing. All other events are false.

    Parameters
    ----------
    scores, labels
        One of each per step; labels are 1 inside a fault. Steps without a score have NaN.
    gap
        Alarms up to this many steps apart are one event.
    """
    known, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels) == 1
    if known.shape != truth.shape:
        raise InputError(f"labels must have the shape of scores, {known.shape}, got {truth.shape}")
    starts, ends = find_ranges(truth)
    if not len(starts):
        raise InputError("a budget curve needs at least one labelled fault, got none")
    hours = float(np.count_nonzero(~truth)) * seconds_per_step / 3600
    levels = np.unique(np.nanquantile(known, np.linspace(0.5, 1, THRESHOLDS)))[::-1]
    found, false = [], []
    for level in levels:
        begins, _ = find_segments(known, AlarmPolicy(start=float(level), merge_gap=gap))
        hits = (begins[:, None] >= starts - gap) & (begins[:, None] < ends)
        found.append(float(hits.any(axis=0).mean()))
        false.append(float(np.count_nonzero(~hits.any(axis=1))) / hours)
    return BudgetCurve(thresholds=levels, found=np.array(found), false_per_hour=np.array(false))


def draw_budget(
    path: Path, curves: Mapping[str, BudgetCurve], *, budget: float = 1.0, title: str = ""
) -> None:
    """Draw the most that is found within so many false events per hour, to PNG, SVG or PDF.

    There is one curve per name. The axis of false events is linear up to ``budget``, logarithmic
    above; a vertical line marks the budget, a point what each curve finds within it.
    """
    figure, axis = new_figure(path, figsize=(8.5, 4.0))
    from matplotlib.ticker import ScalarFormatter

    axis.axvline(budget, color=GRAY, linewidth=1, zorder=0)
    axis.text(budget, 1.03, f" budget: {budget:g} per hour", fontsize=8, color="#555555")
    for i, (name, curve) in enumerate(curves.items()):
        order = np.argsort(curve.false_per_hour, kind="stable")
        x, y = curve.false_per_hour[order], np.maximum.accumulate(curve.found[order])
        colour, at = PALETTE[i % len(PALETTE)], curve.found_at(budget)
        axis.step(x, y, where="post", color=colour, linewidth=1.6)
        axis.plot(
            [budget], [at], MARKERS[i % len(MARKERS)], color=colour, markersize=6,
            label=f"{name}: {100 * at:.0f} %",
        )  # fmt: skip
    axis.set_xscale("symlog", linthresh=budget)
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1.02)
    axis.set_xlabel("false events per hour", fontsize=9)
    axis.set_ylabel("share of faults found", fontsize=9)
    axis.grid(color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
    figure.legend(
        fontsize=8, frameon=False, loc="outside right upper", title="found within\nthe budget",
        title_fontsize=8,
    )  # fmt: skip
    trim_axis(axis)
    if title:
        figure.suptitle(title.replace("$", r"\$"), fontsize=10)
    save_figure(figure, path)
