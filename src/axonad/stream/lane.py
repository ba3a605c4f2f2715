"""The state of one live stream: its last rows, its missing values, and counts.

A value is missing if it is NaN, infinite or None, or if its name is not in the row;
:mod:`axonad.data.holding` says what replaces it. A row that is refused raises
:class:`~axonad.errors.StaleError` and clears the window, so that no window spans a gap. Held values
and refused rows are counted. Where time breaks (:mod:`axonad.data.clock`) the window is cleared
too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from axonad.data.clock import Clock
from axonad.data.context import ContextWatch
from axonad.data.frames import Names
from axonad.data.holding import Holding
from axonad.errors import DataWarning, StaleError
from axonad.modelfile import check_counts, check_rows
from axonad.stream.kept_rows import KeptRows
from axonad.stream.rows import Row

Held = tuple[str, ...]
"""Names of the channels of a row whose missing value was held."""


class RowBuffer:
    """A ring buffer of the last ``size`` rows.

    Each row is stored twice, ``size`` places apart, so that the window is always a contiguous view.
    """

    def __init__(self, size: int, channels: int) -> None:
        self.total = 0  # rows ever appended
        self._size = size
        self._rows = np.zeros((2 * size, channels))
        self._next = 0
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Whether the buffer holds a whole window."""
        return self._count == self._size

    def append(self, row: Row) -> None:
        """Append a row; in a full buffer it replaces the oldest."""
        self._rows[self._next] = row
        self._rows[self._next + self._size] = row
        self._next = (self._next + 1) % self._size
        self._count = min(self._count + 1, self._size)
        self.total += 1

    def extend(self, rows: Row) -> None:
        """Append many rows, of which the last ``size`` are stored."""
        for row in rows[-self._size :]:
            self.append(row)

    def rows(self) -> Row:
        """Return a view of the rows, oldest first."""
        end = self._next + self._size
        return self._rows[end - self._count : end]

    def clear(self) -> None:
        """Remove all rows."""
        self._next = self._count = 0


def warn_of_context(watch: ContextWatch | None, rows: Row, *, whose: str = "") -> None:
    """Add rows to what a stream has seen of the context; warn once of each channel that is new."""
    if watch is not None:
        for new in watch.add(rows):
            warnings.warn(f"{whose}{new}", DataWarning, stacklevel=3)


class Lane:
    """The state of one stream; :meth:`push` appends a row to its window."""

    def __init__(self, names: Names, *, channels: int, window: int, keep: int = 0) -> None:
        self.rows = self.scored = self.held = self.refused = 0
        self.window = RowBuffer(window, channels)
        self.kept = KeptRows(keep, channels) if keep else None
        self.clock = Clock()
        self._names = names
        self._holding = Holding(channels, names)

    def push(self, row: Row, *, hold_limit: int) -> Held:
        """Append a row with missing values held; return the names of the channels held."""
        try:
            filled, held = self.fill(row, hold_limit=hold_limit)
        except StaleError:
            self.reset()
            raise
        self.window.append(filled)
        if self.kept is not None:
            self.kept.add(self.rows - 1, filled)
        return held

    def fill(self, row: Row, *, hold_limit: int) -> tuple[Row, Held]:
        """Return the row with missing values held, and the names of the channels held."""
        try:
            filled, held = self._holding.fill(row, limit=hold_limit, number=self.rows)
        except StaleError:
            self.refused += 1
            raise
        finally:
            self.rows += 1
        self.held += len(held)
        return filled, tuple(self._label(i) for i in held)

    def fill_block(
        self, block: Row, *, hold_limit: int
    ) -> tuple[Row, list[Held], StaleError | None]:
        """Fill rows up to the first that is refused; return them, the names held and the error."""
        if np.isfinite(block).all():
            self.rows += len(block)
            self._holding.silent.fill(0)
            self._holding.last = block[-1].copy()
            return block, [()] * len(block), None
        filled, names = np.empty_like(block), list[Held]()
        for row in block:
            try:
                filled[len(names)], held = self.fill(row, hold_limit=hold_limit)
            except StaleError as error:
                return filled[: len(names)], names, error
            names.append(held)
        return filled, names, None

    def extend(self, rows: Row, *, end: int) -> None:
        """Append filled rows to the window; ``end`` is the number after the last one."""
        self.window.extend(rows)
        if self.kept is not None:
            for number, row in enumerate(rows, start=end - len(rows)):
                self.kept.add(number, row)

    def refuse(self) -> None:
        """Count the last row as refused, because it could not be scored, and clear the window."""
        self.refused += 1
        self.reset()

    def reset(self) -> None:
        """Clear the window and the last values; the counts stay."""
        if self.kept is not None:
            self.kept.cut()
        self.window.clear()
        self._holding.forget()

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        kept = {} if self.kept is None else {"kept": self.kept.state()}
        return kept | {
            "counts": [self.rows, self.scored, self.held, self.refused],
            "time": self.clock.state(),
            "silent": self._holding.silent.tolist(),
            "buffer": self.window.rows().tolist(),
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
        if len(rows) > min(self.window._size, self.rows):
            raise ValueError(f"its buffer of {len(rows)} rows is longer than window or stream")
        self._holding.silent = silent
        self._holding.last = rows[-1].copy() if len(rows) else None
        self.window.extend(rows)
        if self.kept is not None:
            self.kept.restore(state.get("kept"))

    def _label(self, channel: int) -> str:
        return self._names[channel] if self._names is not None else str(channel)
