"""Thresholds that follow scores which stay high.

After a change that lasts (another season, a worn part, another load) normal scores may lie above
any threshold that normal data before the change could tell. An alarm that never ends is switched
off, and then the next fault is missed. So both thresholds of a policy are lifted while scores stay
above them, and an event begins only where scores rise above what they have been lately:

- A row below the start threshold looks like training. It lowers the lift by ``recover`` and saves
  up ``allowance`` rows of alarm, to at most ``long``.
- A row between the start threshold and the lifted one lowers the lift by ``settle``.
- A row above the lifted start threshold uses up one of the saved rows, or, if there is none left,
  lifts the thresholds by ``rise``.

The first three are in units of ``start - level``. Where faults are rare, rows are saved up and an
event lasts as long as its scores are high, up to ``long`` rows. Where scores are always high, the
thresholds reach them within a few rows. With a ``rise`` of 0 thresholds stay where they are.

The lift says nothing about what is normal: whether the data still looks like training is judged
against a fixed reference, see ``docs/alarms.md``. A row changes the lift of later rows only, and
what it does depends on the rows before alone. A row without a score and a gap in time change
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.policy import AlarmPolicy
from axonad.config import check_float, check_int

Values = NDArray[np.float64]


class Lift:
    """How far the thresholds of a policy are lifted, row by row.

    >>> lift = Lift(AlarmPolicy(start=1.0, level=0.0, rise=0.5, settle=0.1, recover=0.25))
    >>> [lift.push(score) for score in (2.0, 2.0, 1.2, 0.0, 0.0)]
    [0.0, 0.5, 1.0, 0.9, 0.65]
    """

    def __init__(self, policy: AlarmPolicy) -> None:
        unit = 0.0 if policy.level is None else policy.start - policy.level
        self._start, self._rise, self._settle, self._recover = (
            policy.start, policy.rise * unit, policy.settle * unit, policy.recover * unit,
        )  # fmt: skip
        self._allowance = policy.allowance
        self._most = math.inf if policy.long is None else float(policy.long)
        self._after, self._saved = 0.0, 0.0  # after the last row above the start threshold
        self._quiet = 0  # rows since

    @property
    def value(self) -> float:
        """Lift of the next row."""
        return max(0.0, self._after - self._quiet * self._recover)

    def push(self, score: float) -> float:
        """Add a row and return its lift; a row without a score (NaN) changes nothing."""
        lift = self.value
        if self._rise == 0 or math.isnan(score):
            return lift
        if score > self._start:
            self._pass(score, self._quiet)
            self._quiet = 0
        else:
            self._quiet += 1
        return lift

    def rest(self) -> None:
        """Add a row at or below the start threshold, as :meth:`push` would."""
        if self._rise != 0:
            self._quiet += 1

    def push_many(self, scores: Values) -> Values:
        """Add rows and return the lift of each; rows without a score (NaN) change nothing."""
        if self._rise == 0:
            return np.zeros(len(scores))
        hot = np.flatnonzero(scores > self._start)
        scored = np.concatenate([[0], np.cumsum(np.isfinite(scores))])  # before each row
        since = np.concatenate([[-self._quiet], scored[hot] + 1])
        after = [self._after]
        quiet = scored[hot] - since[:-1]
        for score, rows in zip(scores[hot].tolist(), quiet.tolist(), strict=True):
            self._pass(score, rows)
            after.append(self._after)
        last = np.searchsorted(hot, np.arange(len(scores) + 1))  # rows above start before each
        self._quiet = int(scored[-1] - since[-1])
        lifts = np.array(after)[last] - (scored - since[last]) * self._recover
        return np.asarray(np.maximum(0.0, lifts)[:-1])

    def _pass(self, score: float, quiet: int) -> None:
        """Add a row above the start threshold after so many below it."""
        lift = max(0.0, self._after - quiet * self._recover)
        self._saved = min(self._most, self._saved + quiet * self._allowance)
        if score <= self._start + lift:
            lift = max(0.0, lift - self._settle)
        elif self._saved >= 1:
            self._saved -= 1
        else:
            lift += self._rise
        self._after = lift

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {"after": self._after, "saved": self._saved, "quiet": self._quiet}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise an error if it makes no sense."""
        for name in ("after", "saved"):
            check_float(name, state[name], low=0)
        check_int("quiet", state["quiet"], low=0)
        self._after, self._saved = state["after"], state["saved"]
        self._quiet = state["quiet"]


def lower(scores: Values, policy: AlarmPolicy) -> Values:
    """Return the scores of a series without their lift, to be compared with the thresholds."""
    if policy.rise == 0:
        return scores
    return scores - Lift(policy).push_many(scores)
