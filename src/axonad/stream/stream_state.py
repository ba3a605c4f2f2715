"""The state of one live stream: its last rows, its missing values, its events, and counts.

A value is missing if it is NaN, infinite or None, or if its name is not in the row;
:mod:`axonad.data.holding` says what replaces it. A row that is refused clears the window, so that
no window spans a gap. So does a break in time (:mod:`axonad.data.clock`). Held values and refused
rows are counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from axonad.alarms.finder import EventFinder
from axonad.data.clock import Clock
from axonad.data.holding import Holding
from axonad.detector import Detector
from axonad.errors import DataWarning, StaleError
from axonad.modelfile import check_counts, check_rows
from axonad.stream.kept_rows import KeptRows
from axonad.stream.rows import Row
from axonad.stream.vehicles import Vehicle

Held = tuple[str, ...]
"""Names of the channels of a row whose missing value was held."""


class RowBuffer:
    """A ring buffer of the last ``size`` rows.

    Each row is stored twice, ``size`` places apart, so that the window is always a contiguous view.
    """

    def __init__(self, size: int, channels: int) -> None:
        self.size = size
        self.total = 0  # rows ever appended
        self._rows = np.zeros((2 * size, channels))
        self.count = 0  # rows in the buffer
        self._next = 0

    @property
    def is_full(self) -> bool:
        """Whether the buffer holds a whole window."""
        return self.count == self.size

    def append(self, row: Row) -> None:
        """Append a row; in a full buffer it replaces the oldest."""
        self._rows[self._next] = row
        self._rows[self._next + self.size] = row
        self._next = (self._next + 1) % self.size
        self.count = min(self.count + 1, self.size)
        self.total += 1

    def extend(self, rows: Row) -> None:
        """Append many rows, of which the last ``size`` are stored."""
        for row in rows[-self.size :]:
            self.append(row)

    def rows(self) -> Row:
        """Return a view of the rows, oldest first."""
        end = self._next + self.size
        return self._rows[end - self.count : end]

    def clear(self) -> None:
        """Remove all rows."""
        self._next = self.count = 0


class StreamState:
    """The state of one stream.

    Parameters
    ----------
    detector
        A fitted, causal detector.
    vehicle
        Whose stream it is; None for the only one.
    hold_limit
        Maximum number of consecutive rows in which a channel's last value replaces a missing one.
    keep
        Number of rows to keep for explanations.
    finds_events
        Whether events are found.
    """

    def __init__(
        self,
        detector: Detector,
        *,
        vehicle: Vehicle | None,
        hold_limit: int,
        keep: int,
        finds_events: bool,
    ) -> None:
        channels, self._names = detector.n_features_in_, detector.channel_names
        self.rows = self.scored = self.held = self.refused = 0
        self.window = RowBuffer(detector.history, channels)
        self.kept = KeptRows(keep, channels) if keep else None
        self.clock = Clock()
        self.context = detector.watch_context(detector.channel_names)
        self.finder: EventFinder | None = None
        if finds_events:
            self.finder = detector.event_finder(hold=hold_limit, vehicle=vehicle)
        self._hold_limit = hold_limit
        self._holding = Holding(channels, detector.channel_names)

    def push(self, row: Row) -> Held:
        """Append a row with missing values held; return the names of the channels held.

        Raise :class:`~axonad.errors.StaleError` if it is refused.
        """
        try:
            filled, held = self._fill(row)
        except StaleError:
            self.refuse()
            raise
        self.window.append(filled)
        if self.kept is not None:
            self.kept.add(self.rows - 1, filled)
        return held

    def fill_block(self, block: Row) -> tuple[Row, list[Held], str]:
        """Fill rows up to the first that is refused; return them, the names held and the reason.

        They are counted and not yet in the window.
        """
        if np.isfinite(block).all():
            self.rows += len(block)
            self._holding.silent.fill(0)
            self._holding.last = block[-1].copy()
            return block, [()] * len(block), ""
        filled, names = np.empty_like(block), list[Held]()
        for row in block:
            try:
                filled[len(names)], held = self._fill(row)
            except StaleError as error:
                return filled[: len(names)], names, str(error)
            names.append(held)
        return filled, names, ""

    def extend(self, rows: Row, *, end: int) -> None:
        """Append filled rows to the window; ``end`` is the number after the last one."""
        self.window.extend(rows)
        if self.kept is not None:
            for number, row in enumerate(rows, start=end - len(rows)):
                self.kept.add(number, row)

    def refuse(self) -> None:
        """Count the last row as refused, and clear the window."""
        self.refused += 1
        self.reset()

    def reset(self) -> None:
        """Clear the window and the last values; the counts stay."""
        if self.kept is not None:
            self.kept.cut()
        self.window.clear()
        self._holding.forget()

    def marked(self) -> tuple[Any, ...]:
        """Return what :meth:`go_back` needs to take back rows that were filled."""
        last = self._holding.last
        return self.rows, self.held, self._holding.silent.copy(), last

    def go_back(self, mark: tuple[Any, ...]) -> None:
        """Take back the rows filled since a mark."""
        self.rows, self.held, self._holding.silent, self._holding.last = mark

    def warn_of_context(self, rows: Row, *, whose: str) -> None:
        """Warn once of each context channel that has left its training range."""
        if self.context is not None:
            for new in self.context.add(rows):
                warnings.warn(f"{whose}{new}", DataWarning, stacklevel=4)

    def counts(self) -> dict[str, int]:
        """Return the numbers of rows, scores, held values, refused rows, gaps, repeated times."""
        counts = {name: getattr(self, name) for name in ("rows", "scored", "held", "refused")}
        return counts | {"gaps": self.clock.gaps, "repeated": self.clock.repeated}

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "counts": [self.rows, self.scored, self.held, self.refused],
            "time": self.clock.state(),
            "silent": self._holding.silent.tolist(),
            "buffer": self.window.rows().tolist(),
            "kept": None if self.kept is None else self.kept.state(),
            "context": None if self.context is None else self.context.state(),
            "events": None if self.finder is None else self.finder.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = len(self._holding.silent)
        counts = check_counts("counts", state["counts"])
        self.rows, self.scored, self.held, self.refused = counts
        if max(self.scored, self.refused) > self.rows or self.held > self.rows * channels:
            raise ValueError(f"its counts {counts} contradict each other")
        silent = np.array(check_counts("silent", state["silent"]), dtype=np.int64)
        if len(silent) != channels or max(silent) > self.rows:
            raise ValueError(f"silent does not fit {channels} channels and {self.rows} rows")
        rows = check_rows("buffer", state["buffer"], columns=channels)
        if len(rows) > min(self.window.size, self.rows):
            raise ValueError(f"its buffer of {len(rows)} rows is longer than window or stream")
        self._holding.silent = silent
        self._holding.last = rows[-1].copy() if len(rows) else None
        self.window.extend(rows)
        self.clock.restore(state["time"])
        if self.kept is not None:
            self.kept.restore(state["kept"])
        if self.context is not None:
            self.context.restore(state["context"])
        if self.finder is not None and state["events"] is not None:
            self.finder.restore(state["events"])
        elif self.finder is not None:  # the model has learned to judge them since
            self.finder.skip(self.rows)

    def _fill(self, row: Row) -> tuple[Row, Held]:
        """Return the row with missing values held, and the names of the channels held."""
        try:
            filled, held = self._holding.fill(row, limit=self._hold_limit, number=self.rows)
        finally:
            self.rows += 1
        self.held += len(held)
        return filled, tuple(self._label(i) for i in held)

    def _label(self, channel: int) -> str:
        return self._names[channel] if self._names is not None else str(channel)
