"""One live stream: its last rows, what it misses, and counts.

Missing values. A live row may lack a value (NaN, infinite, None, or a missing name). The channel's
last value is held in its place for at most ``hold_limit`` rows in a row; then, or when there is no
earlier value, the row is refused with :class:`~axonad.errors.StaleError`, the window empties and
has to fill anew, so that no window ever spans a gap. Held values and refused rows are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Names, channel_label
from axonad.errors import StaleError
from axonad.stream.buffer import RowBuffer
from axonad.stream.rows import Row


class Lane:
    """The state of one stream; ``take`` adds a row to its window."""

    def __init__(self, names: Names, *, channels: int, window: int) -> None:
        self.rows = self.scored = self.held = self.refused = 0
        self.window = RowBuffer(window, channels)
        self._names = names
        self._silent = np.zeros(channels, dtype=np.int64)
        self._last: Row | None = None

    def take(self, row: Row, *, hold_limit: int) -> tuple[str, ...]:
        """Add a row, missing values held; return the names of the channels that were missing."""
        try:
            filled, held = self.fill(row, hold_limit=hold_limit)
        except StaleError:
            self.reset()
            raise
        self.window.append(filled)
        return held

    def fill(self, row: Row, *, hold_limit: int) -> tuple[Row, tuple[str, ...]]:
        """Return the row with missing values held, and the names of those channels."""
        finite = np.isfinite(row)
        names: tuple[str, ...] = ()
        if finite.all():
            self._silent.fill(0)
        else:
            missing = ~finite
            reason = self._refusal(missing, hold_limit)
            if reason is not None:
                self.rows += 1
                self.refused += 1
                raise StaleError(reason)
            row = row if self._last is None else np.where(finite, row, self._last)
            names = tuple(self._label(i) for i in np.flatnonzero(missing).tolist())
            self.held += len(names)
            self._silent = np.where(missing, self._silent + 1, 0)
        self.rows += 1
        self._last = row
        return row, names

    def fill_block(
        self, block: Row, *, hold_limit: int
    ) -> tuple[Row, list[tuple[str, ...]], StaleError | None]:
        """Fill rows one after another up to the first refused one."""
        if np.isfinite(block).all():
            self.rows += len(block)
            self._silent.fill(0)
            self._last = block[-1].copy()
            return block, [()] * len(block), None
        filled, names = np.empty_like(block), list[tuple[str, ...]]()
        for row in block:
            try:
                filled[len(names)], held = self.fill(row, hold_limit=hold_limit)
            except StaleError as error:
                return filled[: len(names)], names, error
            names.append(held)
        return filled, names, None

    def reset(self) -> None:
        """Forget the window and the last values; the counts stay."""
        self.window.clear()
        self._silent.fill(0)
        self._last = None

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {
            "counts": [self.rows, self.scored, self.held, self.refused],
            "silent": self._silent.tolist(),
            "buffer": self.window.rows().tolist(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back a state; one that does not fit raises KeyError, TypeError or ValueError."""
        counts = [int(count) for count in state["counts"]]
        self.rows, self.scored, self.held, self.refused = counts
        silent = np.array(state["silent"], dtype=np.int64)
        rows = np.array(state["buffer"], dtype=np.float64).reshape(-1, len(silent))
        if len(silent) != len(self._silent) or not np.isfinite(rows).all():
            raise ValueError(f"its buffer does not hold {len(self._silent)} finite channels")
        self._silent = silent
        self.window.extend(rows)
        self._last = rows[-1].copy() if len(rows) else None

    def _label(self, channel: int) -> str:
        return self._names[channel] if self._names is not None else str(channel)

    def _refusal(self, missing: NDArray[np.bool_], hold_limit: int) -> str | None:
        """Say why missing values cannot be held, or None if they can."""
        first = int(np.argmax(missing))
        if self._last is None:
            label = channel_label(first, self._names)
            return f"channel {label} has no value at row {self.rows} and no earlier one to hold"
        late = missing & (self._silent >= hold_limit)
        if late.any():
            label = channel_label(int(np.argmax(late)), self._names)
            return (
                f"channel {label} has been silent for more than hold_limit={hold_limit} rows "
                f"at row {self.rows}; the window starts anew"
            )
        return None
