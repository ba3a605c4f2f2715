"""The figure of one scored series: channels, score, threshold and events on one time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.faults import PlantedEvent
from axonad.data.series import Series
from axonad.report.drawing import new_figure, save_figure, trim_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]
BLUE, RED, GREEN, GRAY = "#2171b5", "#cb181d", "#238b45", "#969696"
MOST_CHANNELS = 4


def draw_scores(
    path: Path,
    *,
    series: Series,
    scores: FloatArray,
    threshold: float,
    components: Mapping[str, FloatArray] | None = None,
    planted: Sequence[tuple[PlantedEvent, bool]] = (),
    channels: Sequence[str] = (),
    title: str = "",
) -> None:
    """Draw channels above the score, with alarms as ticks and events shaded, to PNG, SVG or PDF.

    Parameters
    ----------
    planted
        Known events, each with whether it was found: shaded green or red. Without them the labels
        of the series are shaded.
    channels
        Channels to show; by default those that change most relative to their range.
    """
    shown = [name for name in channels if name in series.channels] or _most_active(series)
    parts = components or {}
    heights = [1.0] * len(shown) + [2.0] + [1.0] * len(parts)
    figure, grid = new_figure(
        path, len(heights), 1, sharex=True, figsize=(12, 1.1 * sum(heights) + 0.6),
        height_ratios=heights, squeeze=False,
    )  # fmt: skip
    axes = grid[:, 0]
    score_axis = axes[len(shown)]
    for axis, name in zip(axes, shown, strict=False):
        _plot(axis, series.values[:, series.channels.index(name)], GRAY, name)
    _plot(score_axis, _signed_log(scores), "black", "score (log)", linewidth=0.8)
    score_axis.axhline(float(_signed_log(threshold)), color=RED, linestyle="--", lw=0.8)
    for axis, (name, values) in zip(axes[len(shown) + 1 :], parts.items(), strict=True):
        _plot(axis, _signed_log(values), BLUE, f"{name} (log)")
    for start, end, color in _spans(series, planted):
        for axis in axes:
            axis.axvspan(start - 0.5, end - 0.5, color=color, alpha=0.25, linewidth=0)
    alarms = np.flatnonzero(scores > threshold)
    top = np.full(len(alarms), score_axis.get_ylim()[1])
    score_axis.plot(alarms, top, "|", color=RED, markersize=5, clip_on=False)
    axes[-1].set_xlabel("step")
    axes[-1].set_xlim(0, len(series) - 1)
    figure.suptitle(title or series.name, fontsize=11)
    save_figure(figure, path)


def _plot(axis: Axes, values: NDArray[Any], color: str, label: str, linewidth: float = 0.6) -> None:
    axis.plot(values, color=color, linewidth=linewidth)
    axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8)
    trim_axis(axis, labelsize=7)


def _signed_log(values: FloatArray | float) -> FloatArray:
    """Compress large values, so that one extreme does not flatten the rest of the curve."""
    result: FloatArray = np.sign(values) * np.log10(1 + np.abs(values))
    return result


def _spans(
    series: Series, planted: Sequence[tuple[PlantedEvent, bool]]
) -> list[tuple[int, int, str]]:
    if planted:
        return [(event.start, event.end, GREEN if found else RED) for event, found in planted]
    if series.labels is None:
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], series.labels, [0]])))
    return [(int(a), int(b), RED) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _most_active(series: Series) -> list[str]:
    """Return the channels that change most per step relative to their range, in column order."""
    span = np.ptp(series.values, axis=0)
    change = np.abs(np.diff(series.values, axis=0)).mean(axis=0) / np.where(span > 0, span, 1)
    chosen = sorted(np.argsort(-change, kind="stable")[:MOST_CHANNELS].tolist())
    return [series.channels[i] for i in chosen]
