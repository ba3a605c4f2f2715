"""The figure of one scored series: channels, score, threshold and events on one time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import SEVERITIES, AlarmEvent
from axonad.data.faults import PlantedEvent
from axonad.data.series import Series
from axonad.data.timing import find_runs
from axonad.report import drawing
from axonad.report.drawing import new_figure, save_figure, trim_axis
from axonad.report.times import TimeAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]
MOST_CHANNELS = 4
LARGE = 30  # curves with larger values are drawn on a logarithmic axis
SHADE = 0.3  # opacity of what is shaded
BARS = tuple(f"event: {severity}" for severity in SEVERITIES)
FIRST = ("channel", "score", "part of the score", "threshold", "alarm", *BARS)  # in the legend


def draw_scores(
    path: Path,
    *,
    series: Series,
    scores: FloatArray,
    threshold: float,
    components: Mapping[str, FloatArray] | None = None,
    planted: Sequence[tuple[PlantedEvent, bool]] = (),
    events: Sequence[AlarmEvent] | None = None,
    channels: Sequence[str] = (),
    cuts: tuple[int, ...] = (),
    title: str = "",
) -> None:
    """Draw channels above the score, with alarms and known faults, to PNG, SVG or PDF.

    The horizontal axis shows the times of the series where they are numbers or dates, else steps.
    A score may be NaN: rows without one are shaded.

    Parameters
    ----------
    planted
        Known events, each with whether it was found. Without them the labels are shaded.
    events
        Events of an alarm policy, drawn as bars above the score, darker and thicker the more severe
        they are. None: each step above the threshold is a tick.
    channels
        Channels to show; by default those that change most relative to their range.
    cuts
        Steps at which a gap begins or ends, as in :class:`~axonad.explanation.Explanation`.
    """
    shown = [name for name in channels if name in series.channels] or _most_active(series)
    parts = components or {}
    heights = [1.0] * len(shown) + [2.0] + [1.0] * len(parts)
    figure, grid = new_figure(
        path, len(heights), 1, sharex=True, figsize=(12, 1.1 * sum(heights) + 0.9),
        height_ratios=heights, squeeze=False,
    )  # fmt: skip
    axes = list(grid[:, 0])
    score_axis = axes[len(shown)]
    time = TimeAxis.of(series.times, len(series), cuts)
    for axis, name in zip(axes, shown, strict=False):
        column = series.values[:, series.channels.index(name)]
        if series.unusable is not None:
            column = np.where(series.unusable, np.nan, column)
        _plot(axis, time, column, drawing.CHANNEL, name, legend="channel")
    _plot(score_axis, time, scores, drawing.SCORE, "score", legend="score", linewidth=0.8)
    score_axis.axhline(
        threshold, color=drawing.THRESHOLD, linestyle="--", lw=0.9, label="threshold"
    )
    for axis, (name, values) in zip(axes[len(shown) + 1 :], parts.items(), strict=True):
        _plot(axis, time, values, drawing.COMPONENT, name, legend="part of the score")
    for axis in axes[len(shown) :]:
        _scale(axis)
    _shade_events(axes, time, series, planted)
    _shade_rows_without_score(axes, len(shown), time, series, scores)
    if events is None:
        alarms = np.flatnonzero(scores > threshold)
        score_axis.plot(
            time.x[alarms], np.full(len(alarms), 1.03), "|", color=drawing.ALARM, markersize=6,
            clip_on=False, transform=score_axis.get_xaxis_transform(), label="alarm",
        )  # fmt: skip
    else:
        _draw_bars(score_axis, time, events)
    time.label_axis(axes[-1])
    _add_legend(figure, axes)
    figure.align_ylabels(axes)
    figure.suptitle(title or series.name, fontsize=11)
    save_figure(figure, path)


def _plot(
    axis: Axes,
    time: TimeAxis,
    values: NDArray[Any],
    color: str,
    label: str,
    *,
    legend: str,
    linewidth: float = 0.6,
) -> None:
    axis.plot(*time.curve(values), color=color, linewidth=linewidth, label=legend)
    axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8)
    trim_axis(axis, labelsize=7)


def _scale(axis: Axes) -> None:
    """Compress large values, so that one extreme does not flatten the rest of the curve."""
    from matplotlib.ticker import FuncFormatter, NullLocator, SymmetricalLogLocator

    if max(map(abs, axis.get_ylim())) < LARGE:
        return
    axis.set_yscale("symlog", linthresh=1)
    axis.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=1))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))


def _draw_bars(axis: Axes, time: TimeAxis, events: Sequence[AlarmEvent]) -> None:
    """Draw events as bars above the axis, the most severe last, so that they cover the others."""
    for i, severity in enumerate(SEVERITIES):
        for event in events:
            if event.severity != severity:
                continue
            for left, right in time.spans(event.start, event.end):
                axis.plot(  # the cap keeps a short event visible
                    [left, right], [1.05, 1.05], color=drawing.SEVERITY[severity],
                    linewidth=3 + 2 * i, solid_capstyle="projecting", clip_on=False, zorder=3 + i,
                    transform=axis.get_xaxis_transform(), label=f"event: {severity}",
                )  # fmt: skip


def _shade_events(
    axes: Sequence[Axes],
    time: TimeAxis,
    series: Series,
    planted: Sequence[tuple[PlantedEvent, bool]],
) -> None:
    for event, found in planted:
        color = drawing.FOUND if found else drawing.MISSED
        text = f"planted fault, {'found' if found else 'missed'}"
        _shade(axes, time, [(event.start, event.end)], color, text)
    if not planted and series.labels is not None:
        _shade(axes, time, find_runs(series.labels > 0), drawing.LABELLED, "labelled anomaly")


def _shade_rows_without_score(
    axes: Sequence[Axes], channels: int, time: TimeAxis, series: Series, scores: FloatArray
) -> None:
    unusable = np.zeros(len(series), bool) if series.unusable is None else series.unusable
    _shade(axes, time, find_runs(unusable), drawing.UNUSABLE, "unusable rows", alpha=1.0)
    unscored = ~np.isfinite(scores) & ~unusable
    _shade(
        axes[channels:], time, find_runs(unscored), drawing.UNSCORED, "rows not scored", alpha=1.0
    )


def _shade(
    axes: Sequence[Axes],
    time: TimeAxis,
    spans: Sequence[tuple[int, int]],
    color: str,
    label: str,
    alpha: float = SHADE,
) -> None:
    for axis in axes:
        for start, end in spans:
            for left, right in time.spans(start, end):
                axis.axvspan(  # the edge keeps a short event visible
                    left, right, color=color, alpha=alpha, linewidth=1, zorder=0.5, label=label
                )


def _add_legend(figure: Any, axes: Sequence[Axes]) -> None:
    """Explain every colour once, below the panels."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            is_empty = hasattr(handle, "get_xdata") and not len(handle.get_xdata())
            if not is_empty:
                entries.setdefault(label, handle)
    labels = sorted(entries, key=lambda label: FIRST.index(label) if label in FIRST else len(FIRST))
    figure.legend(
        [entries[label] for label in labels], labels, loc="outside lower center",
        ncols=len(labels), fontsize=8, frameon=False,
    )  # fmt: skip


def _most_active(series: Series) -> list[str]:
    """Return the channels that change most per step relative to their range, in column order."""
    known = np.ma.masked_invalid(series.values)
    span = np.ma.filled(np.ma.ptp(known, axis=0), 0.0)
    steps = np.ma.filled(np.abs(known[1:] - known[:-1]).mean(axis=0), 0.0)
    change = steps / np.where(span > 0, span, 1)
    chosen = sorted(np.argsort(-change, kind="stable")[:MOST_CHANNELS].tolist())
    return [series.channels[i] for i in chosen]
