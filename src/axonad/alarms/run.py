"""Rows that belong together, as the state machine remembers them between two rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.policy import AlarmPolicy
from axonad.threshold import rank_channels

Blame = NDArray[np.float64] | None
NEVER = -1e300  # stands for the blame of a channel that is never blamed, minus infinity


@dataclass(frozen=True, slots=True)
class Run:
    """Rows ``[start, end)`` with their peak, times and the largest blame of each channel.

    ``last`` is the last row above the end threshold; rows after it are those the event is kept
    firing for. Only rows above the end threshold count for peak and blame. ``rows`` is their number
    without the gaps between parts that were merged.
    """

    start: int
    end: int
    last: int
    fired: int
    peak: int
    score: float
    begins: Any
    ends: Any
    blame: list[float] | None
    rows: int = 1

    @classmethod
    def of(cls, row: int, score: float, blame: Callable[[], Blame] | Blame, time: Any) -> Self:
        """Return a run of one row; ``blame`` may be a function that returns it."""
        blame = blame() if callable(blame) else blame
        listed = None if blame is None else np.maximum(blame, NEVER).tolist()
        return cls(row, row + 1, row, row, row, float(score), time, time, listed)

    def joined(self, later: Run) -> Run:
        """Return both runs as one; it fired when the first of them did."""
        peak = later if later.score > self.score else self
        return replace(
            self, end=later.end, last=later.last, ends=later.ends, peak=peak.peak, score=peak.score,
            blame=largest(self.blame, later.blame), rows=self.rows + later.rows,
        )  # fmt: skip

    def held(self, row: int, time: Any) -> Run:
        """Return the run with a row for which the event is kept firing."""
        return replace(self, end=row + 1, ends=time, rows=self.rows + row + 1 - self.end)

    def fired_at(self, row: int) -> Run:
        """Return the run with the row at which it fired."""
        return replace(self, fired=row)

    def channels(self, names: Sequence[str] | None, top: int) -> tuple[str, ...]:
        """Return the ``top`` channels blamed most, without those that are never blamed."""
        if self.blame is None:
            return ()
        blame = np.array(self.blame)
        blame[blame <= NEVER] = -np.inf
        return rank_channels(blame, names, top=top)

    def goes_on_with(self, later: Run, policy: AlarmPolicy) -> bool:
        """Whether a run that begins after an event is taken for the same event."""
        gap, cause = later.start - self.end, self.channels(None, 1)
        if gap <= policy.merge_gap:
            return True
        return gap <= policy.cause_gap and bool(cause) and cause == later.channels(None, 1)

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, channels: int | None) -> Self:
        """Return a saved run; raise KeyError, TypeError or ValueError if it makes no sense."""
        run = cls(**document)
        rows = (run.start, run.end, run.last, run.fired, run.peak)
        if any(type(row) is not int or row < 0 for row in rows) or not all(
            run.start <= row < run.end for row in (run.last, run.fired, run.peak)
        ):
            raise ValueError(f"an event of it has the rows {rows!r:.80}")
        if type(run.rows) is not int or not 1 <= run.rows <= run.end - run.start:
            raise ValueError(f"an event of it has {run.rows!r:.40} rows")
        if type(run.score) not in (int, float) or not math.isfinite(run.score):
            raise ValueError(f"an event of it has the score {run.score!r:.40}")
        if run.blame is not None:
            values = list(run.blame)
            if any(type(value) not in (int, float) for value in values):
                raise ValueError(f"an event of it blames channels by {values!r:.60}; not numbers")
            if channels is not None and len(values) != channels:
                raise ValueError("an event of it has not one value for each channel")
        return run


def largest(one: list[float] | None, other: list[float] | None) -> list[float] | None:
    """Return the larger value of each channel."""
    if one is None or other is None:
        return one if other is None else other
    return list(map(max, one, other))
