"""A series scored chunk by chunk, equal to scoring it whole; for every causal detector.

Wherever a detector places a window's score, the score of a step depends on nothing further away
than ``history - 1`` rows on either side. So each block is scored together with that many rows
around it, and only the steps that have them are given out; the ends of the series are kept as the
detector itself fills them. Nothing here is as long as the series.

Two exceptions to "equal": KNN and LOF know the very array they were fitted on and score it without
its own rows, in chunks they take it for a new series; and RandomScore draws anew for each block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import channel_label, match_channels, to_matrix
from axonad.data.series import Series
from axonad.data.windows import count_windows
from axonad.detector import Detector
from axonad.errors import InputError
from axonad.explanation import Explanation
from axonad.threshold import Event

SHOWN = 20  # events that are told apart; the others are counted
CROWD = 100  # events kept before all but the strongest are forgotten

PURPOSE = "score in chunks"
Scored = tuple[Series, Explanation]


def check_chunks(detector: Detector, chunks: Iterable[Series]) -> int:
    """Return how many rows there are; refuse what cannot be scored, before any work."""
    detector.check_causal(PURPOSE)
    rows = 0
    for chunk in chunks:
        _check_chunk(detector, chunk, rows)
        rows += len(chunk)
    count_windows(rows, detector.history)
    return rows


def score_chunks(detector: Detector, chunks: Iterable[Series]) -> Iterator[Scored]:
    """Yield the steps of a series with what ``detector.explain`` finds in them, in order.

    Chunks may have any length; those shorter than a window are gathered first. What is yielded is
    cut elsewhere than the chunks are, and together it is the whole series.
    """
    detector.check_causal(PURPOSE)
    reach = detector.history - 1
    block: list[Series] = []  # rows around the steps that come next, then new chunks
    given = fresh = rows = 0  # rows of the block already given out, rows not scored yet, all rows
    for chunk in chunks:
        _check_chunk(detector, chunk, rows)
        block.append(chunk)
        rows, fresh = rows + len(chunk), fresh + len(chunk)
        if fresh < detector.history:
            continue
        known = _joined(block)
        stop = len(known) - reach
        yield _part(detector, known, given, stop)
        start = max(0, stop - reach)
        block, given, fresh = [_joined([known.rows(start)])], stop - start, 0
        del known
    count_windows(rows, detector.history)
    if given < sum(map(len, block)):
        yield _part(detector, _joined(block), given, None)


def _check_chunk(detector: Detector, chunk: Series, first: int) -> None:
    """Refuse channels that do not fit and values that are none, by their row of the series."""
    values, names = to_matrix(chunk)
    expected = detector.channel_names
    values = match_channels(values, names, expected=expected, count=detector.n_features_in_)
    bad = ~np.isfinite(values)
    if bad.any():
        row, channel = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"X has a NaN or infinite value, first at row {first + row}, channel "
            f"{channel_label(channel, expected or names)}; fill or drop those rows first"
        )


def _part(detector: Detector, known: Series, start: int, stop: int | None) -> Scored:
    found = detector.explain(known)
    part = slice(start, stop)
    cut = replace(
        found,
        scores=found.scores[part],
        components={name: values[part] for name, values in found.components.items()},
        blame=None if found.blame is None else found.blame[part],
    )
    return known.rows(start, stop), cut


def _joined(parts: list[Series]) -> Series:
    """Return the parts as one series with memory of its own."""
    return replace(
        parts[0],
        values=np.concatenate([part.values for part in parts]),
        labels=_column([part.labels for part in parts]),
        times=_column([part.times for part in parts]),
    )


def _column(parts: list[NDArray[Any] | None]) -> Any:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


# -- events ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimedEvent:
    """An event with the times of its first and last step; their numbers where there are none."""

    event: Event
    begins: Any
    ends: Any

    @classmethod
    def of(cls, event: Event, series: Series, *, first: int = 0) -> Self:
        """Return an event of a series that begins at step ``first``."""
        start, last = event.start, event.end - 1
        if series.times is None:
            return cls(event, start, last)
        return cls(event, series.times[start - first], series.times[last - first])


@dataclass(frozen=True)
class EventList:
    """How many events there are in how many steps, and the strongest of them in order of time."""

    count: int
    steps: int
    strongest: list[TimedEvent]


def strongest_of(events: list[TimedEvent], most: int = SHOWN) -> list[TimedEvent]:
    """Return the events with the highest scores, in order of time."""
    best = sorted(events, key=lambda found: -found.event.score)[:most]
    return sorted(best, key=lambda found: found.event.start)


class EventCollector:
    """Finds the events :meth:`Explanation.events` would find in the whole, part by part."""

    def __init__(self, *, gap: int, top: int = 4) -> None:
        self._gap, self._top = gap, top
        self._count = self._steps = 0
        self._kept: list[TimedEvent] = []
        self._open: TimedEvent | None = None
        self._names: tuple[str, ...] | None = None
        self._blame: NDArray[np.float64] | None = None  # of the open event, per channel
        self._quiet: NDArray[np.float64] | None = None  # of the steps behind it

    def add(self, series: Series, found: Explanation) -> None:
        """Take the next part of the series."""
        first, blame, self._names = self._steps, found.blame, found.names
        behind = 0  # rows of this part that lie behind the open event
        for local in replace(found, blame=None).events(gap=self._gap):
            event = replace(
                local, start=local.start + first, end=local.end + first, peak=local.peak + first
            )
            new = TimedEvent.of(event, series, first=first)
            last = self._open
            if last is not None and event.start - last.event.end <= self._gap:
                peak = event if event.score > last.event.score else last.event
                joined = replace(peak, start=last.event.start, end=event.end)
                self._open = TimedEvent(joined, last.begins, new.ends)
                between = _most(self._quiet, _over(blame, 0, local.end))
                self._blame = _most(self._blame, between)
            else:
                self._close()
                self._open, self._blame = new, _over(blame, local.start, local.end)
            self._quiet, behind = None, local.end
        self._steps += len(series)
        if self._open is not None:
            self._quiet = _most(self._quiet, _over(blame, behind, len(series)))

    def finish(self) -> EventList:
        """Return what was found."""
        self._close()
        return EventList(self._count, self._steps, strongest_of(self._kept))

    def _close(self) -> None:
        if self._open is None:
            return
        channels: tuple[str, ...] = ()
        if self._blame is not None:
            order = np.argsort(-self._blame, kind="stable")[: self._top].tolist()
            channels = tuple(self._names[i] if self._names else str(i) for i in order)
        event = replace(self._open.event, channels=channels)
        self._kept.append(replace(self._open, event=event))
        self._count, self._open = self._count + 1, None
        if len(self._kept) > CROWD:
            self._kept = strongest_of(self._kept)


def _over(blame: NDArray[np.float64] | None, start: int, stop: int) -> Any:
    """Return the largest blame of each channel in some steps, None where there are none."""
    return None if blame is None or start >= stop else blame[start:stop].max(axis=0)


def _most(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return np.maximum(one, other)
