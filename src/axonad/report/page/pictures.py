"""Pictures without JavaScript: inline SVG of timelines, curves, relations and shares.

They hold no text, so that they can be stretched to any width; colours come from the style sheet by
class, so that they follow dark mode and print.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from axonad.data.timing import find_runs
from axonad.report.page.content import Array, Curve, EventView, RecordingView, Scatter
from axonad.report.page.curves import thinned
from axonad.report.page.markup import Child, Markup, element
from axonad.report.page.words import heading

WIDTH, HEIGHT = 720, 120  # of a curve, in units of its own
STATIC_POINTS, COARSE_POINTS = 200, 100  # of the actual course; of what was expected
SQUARE = 220
LANE = {"critical": (0, 30), "alarm": (6, 24), "warning": (13, 17), "": (6, 24)}
"""Top and height of an event's mark by severity, so that colour is not the only sign."""
THINNEST = 0.35  # per cent of the timeline


def timeline(recording: RecordingView, *, longest: float) -> Markup:
    """Return a lane with the events of a recording; ``longest`` is the length of a full lane."""
    length = recording.last - recording.first
    used = 100 * length / longest

    def place(first: float, last: float) -> tuple[str, str]:
        x = used * (first - recording.first) / length
        width = max(THINNEST, used * (last - first) / length)
        return f"{min(x, 100 - width):.3f}%", f"{width:.3f}%"

    marks: list[Child] = [element("rect", class_="lane", x="0", y="0", width=f"{used:.3f}%",
                                  height="30", rx="3")]  # fmt: skip
    for problem in recording.problems:
        x, width = place(problem.first, problem.last)
        told = element("title", f"bad data, {problem.reason}: {problem.begins}")
        marks.append(element("rect", told, class_="bad", x=x, y="32", width=width, height="6"))
    for event in sorted(recording.events, key=lambda event: event.score):
        x, width = place(event.first, event.last)
        top, height = LANE[event.severity]
        told = element("title", f"{_tooltip(event)}")
        mark = element("rect", told, class_=f"mark {event.severity or 'alarm'}", x=x, y=f"{top}",
                       width=width, height=f"{height}")  # fmt: skip
        marks.append(element("a", mark, href=f"#{event.key}", aria_label=_tooltip(event)))
    return element("svg", marks, class_="timeline", width="100%", height="40",
                   role="group", aria_label="timeline")  # fmt: skip


def curve_picture(curve: Curve, *, first: float, last: float) -> Markup:
    """Return a channel around an event: the event shaded, the expected band, the actual course."""
    small, coarse = thinned(curve, STATIC_POINTS), thinned(curve, COARSE_POINTS)
    begin, end = float(curve.x[0]), float(curve.x[-1])
    low, high = _range([curve.actual, curve.expected, curve.low, curve.high])

    def x(positions: Array) -> Array:
        return _scaled(positions, begin, end, WIDTH)

    def y(values: Array) -> Array:
        return HEIGHT - _scaled(values, low, high, HEIGHT)

    edges = np.clip(x(np.array([first, last])), 0, WIDTH)
    shaded = element("rect", class_="during", x=_digits(edges[0]), y="0",
                     width=_digits(max(1.0, edges[1] - edges[0])), height=f"{HEIGHT}")  # fmt: skip
    return element(
        "svg",
        shaded,
        element("path", class_="band", d=_band(x(coarse.x), y(coarse.low), y(coarse.high))),
        element("path", class_="expected", d=_line(x(coarse.x), y(coarse.expected))),
        element("path", class_="actual", d=_line(x(small.x), y(small.actual))),
        class_="static",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def scatter_picture(scatter: Scatter) -> Markup:
    """Return predicted against actual values: in training as dots, now as crosses."""
    columns = [scatter.then_predicted, scatter.then_actual,
               scatter.now_predicted, scatter.now_actual]  # fmt: skip
    low, high = _range(columns)
    across_then, up_then, across_now, up_now = (
        _scaled(values, low, high, SQUARE) for values in columns
    )
    return element(
        "svg",
        element("line", class_="agree", x1="0", y1=f"{SQUARE}", x2=f"{SQUARE}", y2="0"),
        element("path", class_="then", d=_dots(across_then, SQUARE - up_then)),
        element("path", class_="now", d=_crosses(across_now, SQUARE - up_now)),
        class_="scatter",
        viewBox=f"-4 -4 {SQUARE + 8} {SQUARE + 8}",
        role="img",
        aria_label="Predicted against actual values, in training and now",
    )


def share_bar(share: float) -> Markup:
    """Return a bar that fills a share of its width."""
    filled = f"{100 * min(1.0, max(0.0, share)):.1f}%"
    return element(
        "svg",
        element("rect", class_="rest", width="100%", height="8", rx="2"),
        element("rect", class_="share", width=filled, height="8", rx="2"),
        class_="bar",
        width="100%",
        height="8",
        aria_hidden="true",
    )


def _tooltip(event: EventView) -> str:
    severity = f"{event.severity}, " if event.severity else ""
    return f"event {event.number}: {severity}{heading(event)}, {event.begins}"


def _range(columns: Iterable[Array]) -> tuple[float, float]:
    """Return the range of all values, a little wider."""
    known = np.concatenate([column[np.isfinite(column)] for column in columns])
    if len(known) == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = (high - low) * 0.04 or 1.0
    return low - room, high + room


def _scaled(values: Array, low: float, high: float, size: int) -> Array:
    return np.asarray((values - low) / ((high - low) or 1.0) * size, dtype=np.float64)


def _digits(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _line(x: Array, y: Array) -> str:
    """Return a path in whole units that is interrupted where a value is missing.

    >>> _line(np.array([0.0, 10, 20]), np.array([5.0, 3, 9]))
    'M0 5l10-2 10 6'
    """
    words = []
    for start, stop in find_runs(np.isfinite(y)):
        across, down = np.rint(x[start:stop]), np.rint(y[start:stop])
        steps = zip(np.diff(across).tolist(), np.diff(down).tolist(), strict=True)
        moves = " ".join(f"{dx:.0f}{'' if dy < 0 else ' '}{dy:.0f}" for dx, dy in steps)
        words.append(f"M{across[0]:.0f} {down[0]:.0f}" + (f"l{moves}" if moves else "h0"))
    return "".join(words)


def _band(x: Array, low: Array, high: Array) -> str:
    """Return the area between two curves, without the parts in which one is missing."""
    words = []
    for start, stop in find_runs(np.isfinite(low) & np.isfinite(high)):
        part = slice(start, stop)
        across = np.concatenate([x[part], x[part][::-1]])
        words.append(_line(across, np.concatenate([low[part], high[part][::-1]])) + "Z")
    return "".join(words)


def _dots(x: Array, y: Array) -> str:
    """Return each place once, as a line of no length; a round cap makes it a dot."""
    return "".join(f"M{across} {down}h0" for across, down in _places(x, y))


def _crosses(x: Array, y: Array) -> str:
    places = _places(x, y)
    return "".join(f"M{across - 3} {down - 3}l6 6m0-6l-6 6" for across, down in places)


def _places(x: Array, y: Array) -> list[tuple[int, int]]:
    known = np.isfinite(x) & np.isfinite(y)
    pairs = zip(np.rint(x[known]).tolist(), np.rint(y[known]).tolist(), strict=True)
    return sorted({(int(across), int(down)) for across, down in pairs})
