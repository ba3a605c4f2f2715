"""Figures of benchmark rows: paired comparisons, runtime beside quality, ours against published.

Detectors are listed one per line rather than labelled in a scatter plot, so that thirty of them
stay readable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.bench.row import Row
from axonad.report.comparisons import compare_published
from axonad.report.drawing import (
    BLUE,
    GRAY,
    GREEN,
    MARKERS,
    ORANGE,
    PALETTE,
    new_figure,
    save_figure,
    trim_axis,
)
from axonad.report.results_grid import collect
from axonad.report.statistics import Comparison, compare, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHORTEST = 1e-3  # seconds; shorter times would stretch the logarithmic axis without need


def draw_pairwise(
    path: Path,
    *,
    rows: Iterable[Row],
    reference: str,
    metric: str = "VUS-PR",
    published: Mapping[str, tuple[float, float]] | None = None,
    note: str = "",
) -> None:
    """Draw wins and losses of every detector against the reference, and median differences.

    ``published`` has the paper's win rate and median difference by detector, marked beside ours;
    ``note`` is appended to the setting under the title.
    """
    rows = list(rows)
    compared = compare(rows, reference=reference, metric=metric)
    found = [c for c in compared if c.series >= 2]
    absent = [c.baseline for c in compared if c.series < 2]
    name = found[0].reference
    figure, left, right = _two_panels(path, [c.baseline for c in found])
    _draw_wins(left, found)
    y = np.arange(len(found))
    medians = [c.median_delta for c in found]
    right.hlines(y, 0, medians, color=BLUE, alpha=0.5, linewidth=2)
    right.plot(medians, y, "o", color=BLUE, markersize=5)
    _mark_published(left, right, found, published or {})
    right.axvline(0, color="black", linewidth=0.8, linestyle="--")
    right.set_xlabel(f"median {metric} difference\n(negative: {name} is better)", fontsize=9)
    title = f"{metric}: every detector against {name}"
    if absent:
        title += f"; not shown, too few series: {', '.join(absent)}"
    _finish(figure, title, collect(rows, metric=metric).setting + note)
    save_figure(figure, path)


def _mark_published(
    left: Axes,
    right: Axes,
    found: Sequence[Comparison],
    published: Mapping[str, tuple[float, float]],
) -> None:
    """Mark the published win rate, scaled to our number of series, and the median difference."""
    known = [
        (y, c.series, *published[c.baseline])
        for y, c in enumerate(found)
        if c.baseline in published
    ]
    if not known:
        return
    y, series, rates, medians = (np.array(column) for column in zip(*known, strict=True))
    style: dict[str, Any] = {"color": "black", "linestyle": "none"}
    left.plot(series * rates, y, marker="|", ms=9, mew=1.8, label="paper: share of wins", **style)
    right.plot(medians, y, marker="D", ms=5, mfc="none", label="paper: median", **style)


def _draw_wins(axis: Axes, found: Sequence[Comparison]) -> None:
    y = np.arange(len(found))
    start = np.zeros(len(found))
    for counts, color, text in (
        ([c.wins for c in found], ORANGE, "detector wins"),
        ([c.ties for c in found], GRAY, "ties"),
        ([c.losses for c in found], BLUE, f"{found[0].reference} wins"),
    ):
        if any(counts):
            axis.barh(y, counts, left=start, color=color, height=0.7, label=text)
        start += counts
    axis.set_xlim(0, start.max())
    axis.set_xlabel("series", fontsize=9)


def draw_runtime(path: Path, *, rows: Iterable[Row], metric: str = "VUS-PR") -> None:
    """Draw mean fit and score time of every detector beside its mean quality, best first."""
    rows = list(rows)
    quality = sorted(summarise(rows, metric=metric), key=lambda s: (math.isnan(s.mean), -s.mean))
    names = [summary.name for summary in quality]
    figure, left, right = _two_panels(path, names)
    y = np.arange(len(names))
    times = []
    for column in ("fit_seconds", "score_seconds"):
        seconds = {summary.name: summary.mean for summary in summarise(rows, metric=column)}
        times.append(np.maximum([seconds[name] for name in names], _SHORTEST))
    left.hlines(y, np.minimum(*times), np.maximum(*times), color=GRAY, linewidth=1.5, zorder=1)
    left.plot(times[0], y, "o", color=BLUE, markersize=6, label="fit")
    left.plot(times[1], y, "D", color=ORANGE, markersize=5, label="score")
    left.set_xscale("log")
    left.set_xlabel("seconds per series (mean)", fontsize=9)
    left.grid(axis="x", color="#dddddd", linewidth=0.6)
    _draw_quality(right, [summary.mean for summary in quality], metric)
    places = sorted({row.device for row in rows if row.device})
    setting = f"{collect(rows, metric=metric).setting} Run on {'; '.join(places) or 'unknown'}."
    _finish(figure, f"Time and {metric}", setting)
    save_figure(figure, path)


def _draw_quality(axis: Axes, means: Sequence[float], metric: str) -> None:
    lengths = np.nan_to_num(means)
    axis.barh(np.arange(len(means)), lengths, color=GREEN, height=0.7)
    for place, (mean, length) in enumerate(zip(means, lengths, strict=True)):
        text = "–" if math.isnan(mean) else f"{mean:.3f}"
        axis.text(float(length), float(place), f" {text}", va="center", fontsize=7)
    axis.set_xlim(0, 1.15 * max(float(lengths.max()), 0.01))
    axis.set_xlabel(f"{metric} (mean over series)", fontsize=9)


def draw_scatter(
    path: Path, *, rows: Iterable[Row], published: Mapping[str, float], metric: str = "VUS-PR"
) -> None:
    """Draw ours against published values, one point per series, coloured by data set."""
    found = compare_published(rows, published=published, metric=metric)
    figure, axis = new_figure(path, figsize=(7.2, 5.4))
    axis.plot([0, 1], [0, 1], color=GRAY, linewidth=1, zorder=0)
    of = np.array(found.datasets)
    for i, name in enumerate(sorted(set(found.datasets))):
        axis.plot(
            found.published[of == name], found.ours[of == name], MARKERS[i // len(PALETTE) % 4],
            color=PALETTE[i % len(PALETTE)], markersize=6, alpha=0.85, markeredgecolor="white",
            markeredgewidth=0.5, linestyle="none", label=f"{name} ({(of == name).sum()})",
        )  # fmt: skip
    axis.set_xlim(-0.02, 1.02)
    axis.set_ylim(-0.02, 1.02)
    axis.set_aspect("equal")
    axis.set_xlabel(f"{metric}, published")
    axis.set_ylabel(f"{metric}, ours")
    figure.legend(loc="outside right upper", fontsize=8, frameon=False, title="data set (series)")
    far = float(np.abs(found.differences).mean())
    axis.set_title(
        f"{found.detector}: mean |difference| {far:.3f} on {len(found.series)} series\n"
        f"ours {found.ours.mean():.3f}, published {found.published.mean():.3f}",
        fontsize=10,
    )
    figure.supxlabel(found.setting, fontsize=7, color="#555555")
    save_figure(figure, path)


def _two_panels(path: Path, names: Sequence[str]) -> tuple[Any, Axes, Axes]:
    """Return a figure with two panels that share a list of names as y axis, the first on top."""
    figure, axes = new_figure(path, 1, 2, sharey=True, figsize=(9, 1.9 + 0.24 * len(names)))
    for axis in axes:
        trim_axis(axis)
        axis.tick_params(axis="y", length=0)
    axes[0].set_yticks(np.arange(len(names)), names, fontsize=8)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    return figure, axes[0], axes[1]


def _finish(figure: Any, title: str, setting: str) -> None:
    figure.suptitle(f"{title}\n{setting}", fontsize=9)
    figure.legend(loc="outside lower left", ncols=5, fontsize=8, frameon=False)
