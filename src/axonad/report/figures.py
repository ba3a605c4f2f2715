"""Figures: channels, score, threshold and events on one time axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from axonad.data.series import Series
from axonad.errors import MissingDependencyError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
BLUE, RED, GREEN, GRAY = "#2171b5", "#cb181d", "#238b45", "#969696"


class Span(Protocol):
    """Anything with a start and an end on the time axis."""

    @property
    def start(self) -> int:
        """The first step."""
        ...

    @property
    def end(self) -> int:
        """The step after the last."""
        ...


def draw_scores(
    path: Path,
    *,
    series: Series,
    scores: NDArray[np.float64],
    threshold: float,
    components: Mapping[str, NDArray[np.float64]] | None = None,
    planted: Sequence[tuple[Span, bool]] = (),
    channels: Sequence[str] = (),
    title: str = "",
) -> None:
    """Draw channels above the score, alarms and known events shaded, to PNG, SVG or PDF.

    ``planted`` are known events with whether they were found; without them labels are shaded.
    ``channels`` are the ones to show, by default those that move most.
    """
    check_format(path)
    plt = load_pyplot()
    shown = [name for name in channels if name in series.channels] or _liveliest(series, 4)
    parts = components or {}
    count = len(shown) + 1 + len(parts)
    heights = [1.0] * len(shown) + [2.0] + [1.0] * len(parts)
    figure, axes = plt.subplots(
        count, 1, sharex=True, figsize=(12, 1.1 * sum(heights) + 0.6), height_ratios=heights,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for axis, name in zip(axes[:, 0], shown, strict=False):
        axis.plot(series.values[:, series.channels.index(name)], color=GRAY, linewidth=0.6)
        _label(axis, name)
    score_axis = axes[len(shown), 0]
    _draw_score(score_axis, scores, threshold)
    for axis, (name, values) in zip(axes[len(shown) + 1 :, 0], parts.items(), strict=True):
        axis.plot(_signed_log(values), color=BLUE, linewidth=0.6)
        _label(axis, f"{name} (log)")
    _shade(axes[:, 0], _spans(series, planted))
    _mark_alarms(score_axis, scores > threshold)
    axes[-1, 0].set_xlabel("step")
    axes[-1, 0].set_xlim(0, len(series) - 1)
    figure.suptitle(title or series.name, fontsize=11)
    save_figure(figure, path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure by its ending and close it; the same figure gives the same bytes."""
    plt = load_pyplot()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "axonad"}):
        figure.savefig(path, dpi=130, metadata=undated.get(path.suffix.lower()))
    plt.close(figure)


def check_format(path: Path) -> None:
    """Refuse a figure that cannot be drawn, for its ending or for want of matplotlib."""
    if path.suffix.lower() not in FORMATS:
        raise UnknownNameError(
            f"cannot draw {path.name!r}: its ending must be one of {', '.join(FORMATS)}"
        )
    load_pyplot()


def _draw_score(axis: Axes, scores: NDArray[np.float64], threshold: float) -> None:
    axis.plot(_signed_log(scores), color="black", linewidth=0.8)
    axis.axhline(float(_signed_log(np.array([threshold]))[0]), color=RED, linestyle="--", lw=0.8)
    _label(axis, "score (log)")


def _signed_log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compress large values so that one extreme does not flatten the rest of the picture."""
    result: NDArray[np.float64] = np.sign(values) * np.log10(1 + np.abs(values))
    return result


def _spans(series: Series, planted: Sequence[tuple[Span, bool]]) -> list[tuple[int, int, str]]:
    if planted:
        return [(s.start, s.end, GREEN if found else RED) for s, found in planted]
    if series.labels is None:
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], series.labels, [0]])))
    return [(int(a), int(b), RED) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _shade(axes: Iterable[Axes], spans: Sequence[tuple[int, int, str]]) -> None:
    for axis in axes:
        for start, end, color in spans:
            axis.axvspan(start - 0.5, end - 0.5, color=color, alpha=0.25, linewidth=0)


def _mark_alarms(axis: Axes, alarms: NDArray[np.bool_]) -> None:
    steps = np.flatnonzero(alarms)
    top = axis.get_ylim()[1]
    axis.plot(steps, np.full(len(steps), top), "|", color=RED, markersize=5, clip_on=False)


def _label(axis: Axes, text: str) -> None:
    axis.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8)
    axis.tick_params(labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)


def _liveliest(series: Series, most: int) -> list[str]:
    """Return the channels that move most in their own range, in their order."""
    span = np.ptp(series.values, axis=0)
    moves = np.abs(np.diff(series.values, axis=0)).mean(axis=0) / np.where(span > 0, span, 1)
    chosen = sorted(np.argsort(-moves, kind="stable")[:most].tolist())
    return [series.channels[i] for i in chosen]


def load_pyplot() -> Any:
    """Return matplotlib's pyplot, drawing to files alone; say what to install without it."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingDependencyError(
            "figures need matplotlib; install it with: pip install 'axonad[plot]'"
        ) from None
    return plt
