"""Scores of a long series chunk by chunk, in bounded memory, with any causal detector.

With any alignment, the score of a step depends on at most ``history - 1`` rows on either side. Each
block is therefore scored together with that many rows around it, and only the steps that have them
are yielded. At both ends of the series, all steps are yielded as the detector scores them.

Scores, components and attributions to channels equal those of the whole series within the tolerance
stated in :mod:`axonad.stream`. Start, end, peak and channels of events are the same unless a score
lies within that tolerance of the threshold, or two scores or two channels' attributions lie that
close together.

Two detectors are exceptions. KNN and LOF recognise the array they were fitted on and exclude each
row from its own neighbours; a chunk of it is new data to them. RandomScore draws by row number, and
in chunks the numbers differ.
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
from axonad.threshold import Event, rank_channels

SHOWN = 20  # strongest events that are listed; the others are only counted
MAX_KEPT = 100  # with more events, all but the strongest are dropped

PURPOSE = "score in chunks"
Scored = tuple[Series, Explanation]


def check_chunks(detector: Detector, chunks: Iterable[Series]) -> int:
    """Return the number of rows; raise if the detector cannot score them, before any scoring."""
    detector.check_causal(PURPOSE)
    rows = 0
    for chunk in chunks:
        _check_chunk(detector, chunk, rows)
        rows += len(chunk)
    count_windows(rows, detector.history)
    return rows


def score_chunks(detector: Detector, chunks: Iterable[Series]) -> Iterator[Scored]:
    """Yield successive parts of a series, each with the result of ``detector.explain`` for it.

    Chunks may have any length; those shorter than a window are joined first. The parts are cut at
    other rows than the chunks; together they are the whole series.
    """
    detector.check_causal(PURPOSE)
    reach = detector.history - 1
    block: list[Series] = []  # rows before the next steps, then new chunks
    yielded = fresh = rows = 0  # rows of the block already yielded, rows not scored yet, all rows
    for chunk in chunks:
        _check_chunk(detector, chunk, rows)
        block.append(chunk)
        rows, fresh = rows + len(chunk), fresh + len(chunk)
        if fresh < detector.history:
            continue
        known = _joined(block)
        stop = len(known) - reach
        yield _part(detector, known, yielded, stop)
        start = max(0, stop - reach)
        block, yielded, fresh = [_joined([known.rows(start)])], stop - start, 0
        del known
    count_windows(rows, detector.history)
    if yielded < sum(map(len, block)):
        yield _part(detector, _joined(block), yielded, None)


def _check_chunk(detector: Detector, chunk: Series, first: int) -> None:
    """Raise for wrong channels and for values that are not finite, with their row in the series."""
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
    """Return the concatenated parts as a copy."""
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
    """An event with the times of its first and last step, or their numbers without times."""

    event: Event
    begins: Any
    ends: Any

    @classmethod
    def of(cls, event: Event, series: Series, *, first: int = 0) -> Self:
        """Return an event of a series whose first row is step ``first``."""
        start, last = event.start, event.end - 1
        if series.times is None:
            return cls(event, start, last)
        return cls(event, series.times[start - first], series.times[last - first])


@dataclass(frozen=True)
class EventList:
    """Number of events and of steps, and the strongest events in order of time."""

    count: int
    steps: int
    strongest: list[TimedEvent]


def strongest_of(events: list[TimedEvent], most: int = SHOWN) -> list[TimedEvent]:
    """Return the events with the highest scores, in order of time."""
    best = sorted(events, key=lambda found: -found.event.score)[:most]
    return sorted(best, key=lambda found: found.event.start)


class EventCollector:
    """Finds the events of a series part by part; see :meth:`Explanation.events`."""

    def __init__(self, *, gap: int, top: int = 4) -> None:
        self._gap, self._top = gap, top
        self._count = self._steps = 0
        self._kept: list[TimedEvent] = []
        self._open: TimedEvent | None = None
        self._names: tuple[str, ...] | None = None
        self._blame: NDArray[np.float64] | None = None  # of the open event, by channel
        self._after: NDArray[np.float64] | None = None  # of the steps after it

    def add(self, series: Series, found: Explanation) -> None:
        """Add the next part of the series."""
        first, blame, self._names = self._steps, found.blame, found.names
        after = 0  # first row of this part after the open event
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
                since = _largest(self._after, _max_blame(blame, 0, local.end))
                self._blame = _largest(self._blame, since)
            else:
                self._close()
                self._open, self._blame = new, _max_blame(blame, local.start, local.end)
            self._after, after = None, local.end
        self._steps += len(series)
        if self._open is not None:
            self._after = _largest(self._after, _max_blame(blame, after, len(series)))

    def finish(self) -> EventList:
        """Close the last event and return the list."""
        self._close()
        return EventList(self._count, self._steps, strongest_of(self._kept))

    def _close(self) -> None:
        if self._open is None:
            return
        channels: tuple[str, ...] = ()
        if self._blame is not None:
            channels = rank_channels(self._blame, self._names, top=self._top)
        event = replace(self._open.event, channels=channels)
        self._kept.append(replace(self._open, event=event))
        self._count, self._open = self._count + 1, None
        if len(self._kept) > MAX_KEPT:
            self._kept = strongest_of(self._kept)


def _max_blame(blame: NDArray[np.float64] | None, start: int, stop: int) -> Any:
    """Return the largest blame of each channel in some steps; None without blame or steps."""
    return None if blame is None or start >= stop else blame[start:stop].max(axis=0)


def _largest(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return np.maximum(one, other)
