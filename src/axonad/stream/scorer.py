"""Scores of one live stream, with any causal detector.

The handling of missing values and of gaps in time is described in :mod:`axonad.stream.lane`.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_int
from axonad.data.clock import read_times
from axonad.data.context import NewContext
from axonad.data.holding import HOLD_LIMIT
from axonad.data.series import Series
from axonad.data.timing import to_second
from axonad.detector import Detector
from axonad.errors import DivergedError, StaleError
from axonad.explain import Why
from axonad.stream.lane import Held, warn_of_context
from axonad.stream.live_alarms import LiveAlarms
from axonad.stream.rows import Row, RowReader
from axonad.stream.state import reading_state, write_state
from axonad.stream.window_scorer import StreamResult, WindowScorer
from axonad.threshold import Event

KIND = "axonad-stream"
BLOCK = 2_048  # rows scored at a time by push_many


class StreamScorer:
    """Scores a live stream row by row, like batch scoring with ``align="end"``.

    The tolerance is stated in :mod:`axonad.stream`.

    Parameters
    ----------
    detector
        A fitted, causal detector. It is not modified, and many scorers may share it.
    hold_limit
        Maximum number of consecutive rows in which a channel's last value replaces a missing one.
    ignore_extra
        Drop channels that the model does not know; by default they are refused.
    keep
        Number of rows to keep for :meth:`explain`; 0 keeps none. They are part of the saved state.

    See Also
    --------
    FleetScorer : many streams at once.
    """

    def __init__(
        self, detector: Detector, *, hold_limit: int = HOLD_LIMIT, ignore_extra: bool = False,
        keep: int = 0,
    ) -> None:  # fmt: skip
        check_int("hold_limit", hold_limit, low=0)
        self._scorer = WindowScorer(detector, keep=keep)
        self.detector = detector
        self.hold_limit = hold_limit
        self._reader = RowReader(
            detector.channel_names, detector.n_features_in_, ignore_extra=ignore_extra
        )
        self._lane = self._scorer.new_lane()
        self._blamed: tuple[int, NDArray[np.float64] | None] = (-1, None)  # row and its blame
        self.alarms = LiveAlarms.of(detector)
        """Alarms by the detector's setup; None if it has none."""
        self._context = detector.watch_context(detector.channel_names)
        self.attached: dict[str, Any] = {}  # JSON values of the caller, saved with the state

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty if the detector was fitted without names."""
        return self.detector.channel_names or ()

    @property
    def rows(self) -> int:
        """Number of rows pushed, refused ones included."""
        return self._lane.rows

    @property
    def scored(self) -> int:
        """Number of scores returned."""
        return self._lane.scored

    @property
    def held(self) -> int:
        """Number of missing values replaced by the channel's last one."""
        return self._lane.held

    @property
    def refused(self) -> int:
        """Number of rows refused."""
        return self._lane.refused

    @property
    def gaps(self) -> int:
        """Number of steps in time that ran backwards or were too long; each cleared the window."""
        return self._lane.clock.gaps

    @property
    def repeated(self) -> int:
        """Number of rows with the same time as the row before."""
        return self._lane.clock.repeated

    @property
    def new_context(self) -> tuple[NewContext, ...]:
        """Context channels that have left their training range, with what was seen of them."""
        return () if self._context is None else self._context.found

    @property
    def is_full(self) -> bool:
        """Whether the window is full, so that the last row has a score."""
        return self._lane.window.is_full

    def push(self, row: Any, time: Any = None) -> StreamResult | None:
        """Append one row; return its score, or None until the window is full.

        ``row`` is a sequence of values in channel order, or a mapping from channel names. ``time``
        is a number of seconds, a datetime, a ``datetime64`` or ISO 8601 text. Where it runs
        backwards, or a step is longer than ten sampling intervals of the training series, the
        window is cleared first.
        """
        values = self._reader.read(row)
        warn_of_context(self._context, values[None])
        is_cut, step = False, self._lane.rows
        if time is not None:
            second = to_second(time)
            if is_cut := self._lane.clock.advance(second, self.detector.interval_):
                self._lane.reset()
        result: StreamResult | None = None
        try:
            held = self._lane.push(values, hold_limit=self.hold_limit)
            if self.is_full:
                result = self._scorer.score([self._lane], [held])[0]
        except DivergedError:
            self._lane.reset()  # or the value that cannot be scored would spoil a window of rows
            raise
        finally:
            if self.alarms is not None:
                self.alarms.add(
                    values, result, step=step, blame=self.blame, hold=self.hold_limit, time=time,
                    is_cut=is_cut,
                )  # fmt: skip
        return result

    def push_many(self, rows: Any, times: Any = None) -> list[StreamResult | None]:
        """Append many rows at once; return what :meth:`push` would return for each.

        ``times`` has one time for each row. At the first refused row it raises
        :class:`~axonad.errors.StaleError`, whose ``results`` are those of the rows before and whose
        ``row`` is the index of the refused one.
        """
        rows = self.detector.timed(rows)
        if times is None and isinstance(rows, Series):
            times = rows.times
        matrix = self._reader.read_many(rows)
        warn_of_context(self._context, matrix)
        clock, interval = self._lane.clock, self.detector.interval_
        seconds = None if times is None else read_times(times, len(matrix))
        breaks = [] if seconds is None else clock.find_breaks(seconds, interval)
        results: list[StreamResult | None] = []
        for start, stop in pairwise(sorted({*range(0, len(matrix), BLOCK), *breaks, len(matrix)})):
            if start in breaks:
                self._lane.reset()
            block, step = matrix[start:stop], self._lane.rows
            filled, names, stale = self._lane.fill_block(block, hold_limit=self.hold_limit)
            done = len(filled) + (stale is not None)
            if seconds is not None:
                clock.advance_many(seconds[start : start + done], interval)
            try:
                known, found = self._score_block(filled, names, refused=stale is not None)
            except DivergedError:
                self._lane.reset()
                raise
            results += found
            if self.alarms is not None:
                listed = None if times is None else list(times)[start : start + done]
                self._add_alarms(block[:done], known, found, step, listed, start in breaks)
            if stale is not None:
                self._lane.reset()
                raise StaleError(str(stale), results=results, row=len(results))
        return results

    def blame(self) -> NDArray[np.float64] | None:
        """Return how anomalous each channel is in the window of the last row.

        None if the window is not full or the detector has no scores of channels.
        """
        if not self.is_full:
            return None
        row = self._lane.window.total
        if self._blamed[0] != row:  # an alarm and its event both ask for it
            self._blamed = row, self._scorer.blame(self._lane)
        return self._blamed[1]

    def explain(self, event: Event) -> Why:
        """Return why an event was raised, from the rows kept: now, or when it has resolved.

        The event is one of ``alarms``, or any other whose steps are rows of the stream.
        """
        return self._scorer.explain(self._lane, event)

    def reset(self) -> None:
        """Clear the window and the values to hold, as after a gap; the counts stay."""
        self._lane.reset()
        if self.alarms is not None:
            self.alarms.cut()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the stream's state to one JSON file; :meth:`restore` continues from it."""
        state = self._lane.state() | {"attached": self.attached}
        if self.alarms is not None:
            state["alarms"] = self.alarms.finder.state()
        if self._context is not None:
            state["context"] = self._context.state()
        write_state(
            path, state, kind=KIND, detector=self.detector,
            hold_limit=self.hold_limit, overwrite=overwrite,
        )  # fmt: skip

    @classmethod
    def restore(
        cls, path: str | Path, detector: Detector, *, ignore_extra: bool = False, keep: int = 0
    ) -> Self:
        """Return a scorer that continues where the saved one stopped, with the same scores."""
        scorer = cls(detector, ignore_extra=ignore_extra, keep=keep)
        with reading_state(path, kind=KIND, detector=detector) as (document, hold_limit):
            scorer.hold_limit = hold_limit
            scorer._lane.restore(document)
            scorer._lane.clock.restore(document.get("time"))
            scorer.attached = dict(document.get("attached", {}))
            if scorer._context is not None:
                scorer._context.restore(document.get("context"))
            if scorer.alarms is not None:
                scorer.alarms.restore(document.get("alarms"), rows=scorer.rows)
        return scorer

    def _add_alarms(
        self,
        block: Row,
        known: Row,
        found: list[StreamResult | None],
        first: int,
        times: list[Any] | None,
        is_cut: bool,
    ) -> None:
        """Add the rows of a block to the alarms; a row refused is its last and has no result."""
        if self.alarms is None:
            return
        before = len(known) - len(found)
        for i, values in enumerate(block):
            result = found[i] if i < len(found) else None
            end = before + i + 1
            window = known[max(0, end - self.detector.history) : end]
            self.alarms.add(
                values, result, step=first + i, hold=self.hold_limit, is_cut=is_cut and i == 0,
                time=None if times is None else times[i],
                blame=partial(self._scorer.blame_of, window),
            )  # fmt: skip

    def _score_block(
        self, filled: Row, names: list[Held], *, refused: bool
    ) -> tuple[Row, list[StreamResult | None]]:
        """Return rows from the window on and the results of new ones, then append these to it."""
        lane, window, known = self._lane, self.detector.history, filled
        if window > 1:
            known = np.concatenate([lane.window.rows()[-(window - 1) :], filled])
        complete, end = max(0, len(known) - window + 1), lane.rows - int(refused)
        results: list[StreamResult | None] = [None] * (len(filled) - complete)
        if complete:
            scored = self.detector.score_ends(known)
            lanes, steps = [lane] * complete, range(end - complete, end)
            results += self._scorer.results(scored, lanes, steps, names[-complete:])
        lane.extend(filled, end=end)
        return known, results
