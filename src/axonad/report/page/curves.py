"""The curves of an event: from its explanation, or without one from the recording alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from axonad.data.series import Series
from axonad.explain import Why
from axonad.report.page.axis import Axis
from axonad.report.page.content import Array, Curve, Scatter
from axonad.report.page.decimation import bucket_edges, envelope, thin, thin_positions
from axonad.report.page.packing import POSITION, SIZES, has_even_band
from axonad.threshold import Event

MOST_CURVES = 6  # channels of one event
MOST_KEPT = 20_000  # points of a curve before the size of the page is known
FEWEST = 400  # points that every curve may have, however many there are
BUDGET = 1_700_000  # bytes for all curves of a page
CONTEXT = 20  # rows before and after an event, at least
AROUND = 50  # the same, where it is explained
MOST_RELATIONS = 2
MOST_DOTS = 150


def explained_curves(why: Why, event: Event, axis: Axis) -> tuple[Curve, ...]:
    """Return the courses of an explanation around its event, the most important first."""
    first, last = why.rows if why.rows[1] > why.rows[0] else (event.start, event.end)
    first, last = min(first, event.start), max(last, event.end)
    around = max(AROUND, last - first)
    found = []
    for course in why.courses[:MOST_CURVES]:
        part = slice(max(0, first - around - course.start), last + around - course.start)
        x = axis.x[course.start : course.start + len(course.actual)]
        columns = (x, course.actual, course.expected, course.low, course.high)
        curve = _owned(course.channel, [column[part] for column in columns])
        found.append(thinned(curve, MOST_KEPT))
    return tuple(found)


def plain_curves(series: Series, event: Event, axis: Axis, *, history: int) -> tuple[Curve, ...]:
    """Return the blamed channels around an event, without what was expected of them."""
    around = max(CONTEXT, history, event.end - event.start)
    start, stop = max(0, event.start - around), min(len(series), event.end + around)
    place = {name: i for i, name in enumerate(series.channels)}
    found = []
    for name in [name for name in event.channels if name in place][:MOST_CURVES]:
        values = series.values[start:stop, place[name]].astype(np.float64)
        unknown = np.full(len(values), np.nan)
        columns = (axis.x[start:stop], values, unknown, unknown, unknown)
        found.append(thinned(_owned(name, columns), MOST_KEPT))
    return tuple(found)


def scatters(why: Why) -> tuple[Scatter, ...]:
    """Return the broken relations of an explanation, the worst first."""
    return tuple(
        Scatter(
            words=relation.words,
            ratio=float(relation.ratio),
            then_predicted=_sample(relation.then_predicted),
            then_actual=_sample(relation.then_actual),
            now_predicted=_sample(relation.now_predicted),
            now_actual=_sample(relation.now_actual),
        )
        for relation in why.relations[:MOST_RELATIONS]
    )


def thinned(curve: Curve, most: int) -> Curve:
    """Return a curve of at most ``most`` points that keeps every peak of it."""
    if len(curve.x) <= most:
        return curve
    edges = bucket_edges(len(curve.x), most)
    return replace(
        curve,
        x=thin_positions(curve.x, edges),
        actual=thin(curve.actual, edges),
        expected=thin(curve.expected, edges),
        low=envelope(curve.low, edges, upper=False),
        high=envelope(curve.high, edges, upper=True),
    )


def points_within(curves: Iterable[Curve], *, budget: int = BUDGET) -> int:
    """Return the most points per curve with which all curves together stay within a budget.

    Short events keep all their rows as long as there is room; the longest ones give way first.
    """
    known = [(len(curve.x), _bytes_per_point(curve)) for curve in curves]

    def size(most: int) -> float:
        return sum(min(rows, most) * needed for rows, needed in known)

    low, high = FEWEST, MOST_KEPT
    if size(high) <= budget:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= budget else (low, middle)
    return low


def _owned(name: str, columns: Sequence[Array]) -> Curve:
    """Return a curve with arrays of its own; views would keep the whole recording in memory."""
    return Curve(name, *(np.array(column, dtype=np.float64) for column in columns))


def _bytes_per_point(curve: Curve) -> float:
    """Return the bytes of one point of a curve in the file; base64 writes 3 bytes as 4."""
    raw = SIZES["i16"] + POSITION / MOST_CURVES  # the curves of an event share their positions
    if curve.has_expectation:
        raw += SIZES["i16"]
        even = has_even_band(curve.expected, curve.low, curve.high)
        raw += 0 if even else 2 * SIZES["i8"]
    return raw * 4 / 3


def _sample(values: Array | Sequence[float]) -> Array:
    """Return evenly spaced values of a long list."""
    array = np.array(values, dtype=np.float64)
    if len(array) <= MOST_DOTS:
        return array
    return array[np.arange(MOST_DOTS) * len(array) // MOST_DOTS]
