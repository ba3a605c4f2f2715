"""Events far beyond the budget, gathered into one while scores as a whole are higher than usual.

After a change of driver, load or weather, scores are higher than those that set the thresholds, and
one event follows another. That is drift and no storm of faults. It is said when both are seen:

- More than ``burst`` events fire within the time in which the budget allows one. At a rate as the
  budget says, five events in that time have a chance of 0.4 %.
- Of the rows since the first of them that are no alarm themselves, a share of at least ``SHARE``
  scores above ``level``, the median of normal data; or most rows are alarms. Faults that come close
  after each other do not do that: scores between them are normal.

From then on the last event stays open and gathers those that follow. One whose score is ``TWICE``
as far from the usual as any told so far fires on its own, and gathers those after it. It ends when
nothing has fired for the time in which the budget allows one event.

What happens with a row depends on the rows before alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.run import Run
from axonad.modelfile import check_counts, check_number

SHARE = 0.7
TWICE = 2.0


@dataclass
class Counts:
    """Rows seen so far: not in alarm, those of them above the usual score, and in alarm."""

    calm: int = 0
    above: int = 0
    hot: int = 0

    def are_high_since(self, other: Counts) -> bool:
        """Whether scores as a whole are higher than usual since other counts."""
        calm, above, hot = self.calm - other.calm, self.above - other.above, self.hot - other.hot
        return hot > calm or above >= SHARE * calm


@dataclass(frozen=True)
class Told:
    """An event that was told: the row at which it fired, the counts there, and its peak."""

    row: int
    counts: Counts
    score: float


class Gathering:
    """Which events of one stream are told, and which are gathered into one that was.

    ``part`` is the last event that was gathered, beside the event that gathers; ``number`` is how
    many that event has gathered.
    """

    def __init__(self, policy: AlarmPolicy) -> None:
        self._policy = policy
        self._level = math.inf if policy.level is None else policy.level
        self.is_active = policy.pace > 0 and policy.burst > 0 and policy.level is not None
        self.period = round(1 / policy.pace) if self.is_active else 0
        """Rows in which the budget allows one event."""
        self.holds = False
        self.is_cut = False
        """Whether rows without a score came since the last event."""
        self.part: Run | None = None
        self.number = 0
        self._counts, self._recent = Counts(), list[Told]()
        self._told = 0.0
        self._rows: tuple[Counts, NDArray[np.int64]] = (Counts(), np.zeros((1, 3), dtype=np.int64))

    # -- rows ----------------------------------------------------------------------------------

    def add(self, score: float) -> None:
        """Count a row; one without a score (NaN) does not count."""
        if not self.is_active:
            return
        known = self._counts
        if score > self._policy.release:
            self._counts = Counts(known.calm, known.above, known.hot + 1)
        elif score <= self._policy.release:
            self._counts = Counts(known.calm + 1, known.above + (score > self._level), known.hot)

    def see(self, scores: NDArray[np.float64]) -> None:
        """Prepare for rows to come; :meth:`move` tells how many of them have come."""
        if self.is_active:
            hot, calm = scores > self._policy.release, scores <= self._policy.release
            rows = np.stack([calm, calm & (scores > self._level), hot], axis=1)
            sums = np.concatenate([np.zeros((1, 3), dtype=np.int64), np.cumsum(rows, axis=0)])
            self._rows = self._counts, sums

    def move(self, rows: int) -> None:
        """Count the first rows of those prepared."""
        if self.is_active:
            before, sums = self._rows
            calm, above, hot = sums[rows].tolist()
            self._counts = Counts(before.calm + calm, before.above + above, before.hot + hot)

    # -- events --------------------------------------------------------------------------------

    def begin(self, row: int, score: float) -> None:
        """Add an event that is told and fires at a row."""
        self.part, self.number, self.is_cut = None, 0, False
        if not self.is_active:
            return
        self._recent = [*self._recent, Told(row, self._counts, score)][-self._policy.burst - 1 :]
        first = self._recent[0]
        if (
            not self.holds
            and len(self._recent) > self._policy.burst
            and row - first.row < self.period
            and self._counts.are_high_since(first.counts)
        ):
            self.holds, self._told = True, max(one.score for one in self._recent)

    def gather(self, event: Run, new: Run) -> Run:
        """Add an event that is not told; return the one that gathers, with those before."""
        self._told = self._told if self.number else max(self._told, event.score)
        whole = self.whole(event)
        self.part, self.is_cut = new, False
        self.number += 1
        return whole

    def whole(self, event: Run) -> Run:
        """Return the event that gathers, with the last one gathered."""
        return event if self.part is None else event.joined(self.part)

    @property
    def is_outgrown(self) -> bool:
        """Whether the event gathered last is too strong not to be told."""
        if self.part is None:
            return False
        excess = self._policy.excess
        return excess(self.part.score) >= TWICE * excess(self._told)

    def separate(self) -> Run | None:
        """Take out the event gathered last, which is told now."""
        part, self.part = self.part, None
        self.number -= 1
        return part

    def end(self, event: Run) -> None:
        """End with an event that is final and of which all was told."""
        if self._recent and not self.holds:
            last = self._recent[-1]
            self._recent[-1] = Told(last.row, last.counts, max(last.score, event.score))
        self.part, self.number, self.holds, self.is_cut = None, 0, False, False

    @property
    def reason(self) -> str:
        """What the event that gathers says; empty if none does."""
        if not self.holds:
            return ""
        more = f"; {self.number} more gathered here" if self.number else ""
        return f"alarms far beyond the budget, and scores as a whole are higher than usual{more}"

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any] | None:
        """Return what :meth:`restore` needs, as JSON values; None if nothing is ever gathered."""
        if not self.is_active:
            return None
        recent = [[one.row, *astuple(one.counts), one.score] for one in self._recent]
        return {
            "holds": self.holds, "is_cut": self.is_cut, "number": self.number, "told": self._told,
            "part": None if self.part is None else asdict(self.part),
            "counts": list(astuple(self._counts)), "recent": recent,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any] | None, *, channels: int | None) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        if state is None or not self.is_active:
            return
        flags = [state["holds"], state["is_cut"]]
        if any(type(flag) is not bool for flag in flags):
            raise ValueError(f"its flags must be true or false, got {flags!r:.60}")
        (number,) = check_counts("number", [state["number"]])
        told = check_number("told", state["told"])
        part = None if state["part"] is None else Run.from_json(state["part"], channels=channels)
        if len(state["recent"]) > self._policy.burst + 1 or (part is not None) > number:
            raise ValueError("its gathered events do not fit")
        recent = []
        for *rows, score in state["recent"]:
            row, calm, above, hot = check_counts("recent", rows)
            recent.append(Told(row, Counts(calm, above, hot), check_number("recent", score)))
        calm, above, hot = check_counts("counts", state["counts"])
        self.holds, self.is_cut = flags
        self.part, self.number, self._told = part, number, told
        self._counts, self._recent = Counts(calm, above, hot), recent
