"""The critical-difference diagram: average ranks, with bars over detectors that do not differ."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from axonad.bench.row import Row
from axonad.report.drawing import new_figure, save_figure
from axonad.report.ranks import ALPHA, Ranking, rank_detectors
from axonad.report.table import format_p

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LANE, _ROW = 0.16, 0.25  # inches between bars, inches between names


def draw_critical_difference(path: Path, *, rows: Iterable[Row], metric: str = "VUS-PR") -> None:
    """Draw average ranks; detectors under one bar do not differ (Nemenyi at 5 %)."""
    ranking = rank_detectors(rows, metric=metric)
    bars = _lanes(ranking)
    depth = _LANE * (1 + max((lane for lane, _, _ in bars), default=0))
    left = (len(ranking.names) + 1) // 2
    height = 0.75 + depth + _ROW * (left + 0.5)
    figure, axis = new_figure(path, figsize=(10, height + 0.7))
    axis.set_ylim(-height + 0.75, 0.75)  # one unit is about one inch
    axis.axis("off")
    _draw_scale(axis, ranking)
    for lane, first, last in bars:
        y = -_LANE * (lane + 0.8)
        axis.plot([first - 0.06, last + 0.06], [y, y], color="#333333", linewidth=3.2)
    for i, (name, rank) in enumerate(zip(ranking.names, ranking.ranks, strict=True)):
        row = i if i < left else len(ranking.names) - 1 - i
        _draw_name(axis, name, rank, -depth - _ROW * (row + 0.7), i < left, len(ranking.names))
    axis.set_title(
        f"Average rank by {metric} on {ranking.series} series ({ranking.left_out} left out); "
        f"Friedman p {format_p(ranking.p_value)}\n{ranking.setting}",
        fontsize=9,
    )
    save_figure(figure, path)


def _lanes(ranking: Ranking) -> list[tuple[int, float, float]]:
    """Return (lane, first rank, last rank) of every bar, such that bars in a lane do not touch."""
    rank = dict(zip(ranking.names, ranking.ranks, strict=True))
    gap = 0.02 * len(ranking.names) + 0.15
    ends: list[float] = []
    bars = []
    for clique in ranking.cliques:
        first, last = rank[clique[0]], rank[clique[-1]]
        lane = next((i for i, end in enumerate(ends) if end + gap < first), len(ends))
        ends[lane:] = [last, *ends[lane + 1 :]]
        bars.append((lane, first, last))
    return bars


def _draw_scale(axis: Axes, ranking: Ranking) -> None:
    k = len(ranking.names)
    margin = 0.34 * (k - 1)  # space for the names on both sides
    axis.set_xlim(1 - margin, k + margin)
    axis.plot([1, k], [0, 0], color="black", linewidth=1)
    step = max(1, round((k - 1) / 10))
    for tick in range(1, k + 1, step):
        axis.plot([tick, tick], [0, 0.06], color="black", linewidth=1)
        axis.text(tick, 0.09, str(tick), ha="center", va="bottom", fontsize=8)
    width = ranking.critical_difference
    y = 0.47
    axis.plot([1, 1 + width], [y, y], color="black", linewidth=1.5)
    for end in (1, 1 + width):
        axis.plot([end, end], [y - 0.05, y + 0.05], color="black", linewidth=1.5)
    text = f"critical difference {width:.2f} (alpha {ALPHA:g})"
    axis.text(1 + width + 0.01 * k, y, text, ha="left", va="center", fontsize=8)


def _draw_name(axis: Axes, name: str, rank: float, y: float, is_left: bool, k: int) -> None:
    side = 1 - 0.03 * (k - 1) if is_left else k + 0.03 * (k - 1)
    axis.plot([rank, rank, side], np.array([0.0, y, y]), color="#666666", linewidth=0.8, zorder=0)
    axis.text(
        side, y, f" {name}  {rank:.2f} " if is_left else f" {rank:.2f}  {name} ",
        ha="right" if is_left else "left", va="center", fontsize=8.5,
    )  # fmt: skip
