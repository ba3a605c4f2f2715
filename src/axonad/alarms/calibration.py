"""The start threshold at which normal data raises no more events than a budget allows.

The state machine counts the events of held-out normal scores at candidate thresholds, from the
highest down. Candidates lie midway between neighbouring peaks of the scores, since a new event can
only appear where the threshold falls below a peak. The search ends at the first candidate with more
events than the budget allows. Of those before it, the one with the most events is chosen, and the
lowest if several have as many.

The budget is for new data. A threshold midway between the k-th and the next highest of the peaks
lets k of them pass, but k + ½ on average of as many peaks drawn anew from the same distribution. So
half an event of the budget is kept back (``SPARE``).

A lower threshold may join two events into one, and thresholds that follow scores are lifted
earlier, so the number of events is not monotone in the threshold. It is in the budget: a larger
budget searches a longer list from the same beginning, so it never gives fewer events on the
calibration data and never a higher threshold. With thresholds that stay where they are (``rise`` of
0), on any data the rows in alarm only grow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from axonad.alarms.budget import Budget, Rate, smallest_promise
from axonad.alarms.event import AlarmEvent
from axonad.alarms.outlying import find_outlying
from axonad.alarms.policy import AlarmPolicy, end_threshold
from axonad.alarms.segments import count_events
from axonad.config import check_float
from axonad.errors import InputError

HYSTERESIS = 0.1  # how far below the start threshold an event ends, of the way to the usual score
SPARE = 0.5  # events of the budget that calibration data must leave, see above
MARGIN = 0.01  # how far above the highest peak a threshold without events is, in the same unit

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Held-out scores of one normal recording, NaN for rows without a full window."""

    scores: Scores
    cuts: tuple[int, ...] = ()
    name: str = "recording"
    times: NDArray[Any] | None = None

    @property
    def steps(self) -> int:
        """Number of rows with a score."""
        return int(np.isfinite(self.scores).sum())


@dataclass(frozen=True)
class Calibration:
    """A policy, and what the normal data it rests on says about it."""

    policy: AlarmPolicy
    budget: Budget
    seconds_per_step: float | None
    steps: int
    """Rows of normal data with a score."""
    rate: Rate
    """Events of the calibration data at the chosen threshold."""
    checked: Rate | None
    """Events of each recording at the threshold chosen on the others; None with one recording."""
    outlying: tuple[tuple[str, AlarmEvent], ...] = field(default=())
    """Events far above the rest of the calibration data, with the name of their recording."""

    @property
    def promise(self) -> float:
        """Smallest rate per period that data of this length can promise at 95 %."""
        return smallest_promise(self.rate.periods)

    @property
    def supports_budget(self) -> bool:
        """Whether data of this length can promise the budget at 95 %."""
        return self.promise <= self.budget.events

    def notes(self) -> list[str]:
        """Return what the user should know, one sentence each."""
        notes = [
            f"start threshold {self.policy.start:.4g}: {_events(self.rate.events)} in "
            f"{self._amount()} of normal data, {self._describe(self.rate)}"
        ]
        if self.checked is not None:
            notes.append(
                f"each recording with the threshold of the others: {_events(self.checked.events)}, "
                f"{self._describe(self.checked)}"
            )
        return notes

    def warnings(self) -> list[str]:
        """Return what casts doubt on the calibration, one sentence each."""
        found = []
        if not self.supports_budget:
            needed = math.ceil(self.steps * self.promise / self.budget.events)
            found.append(
                f"{self._amount()} of normal data cannot promise fewer than "
                f"{_rate(self.promise)} per {self.budget.period} at 95 %; the budget of "
                f"{self.budget} needs {self._amount(needed)}"
            )
        if self.outlying:
            name, event = max(self.outlying, key=lambda item: item[1].score)
            where = f"row {event.peak}" if event.begins is None else f"{event.begins}"
            found.append(
                f"the calibration data itself contains {_events(len(self.outlying))} far above the "
                f"rest; the largest at {where} of {name} (score {event.score:.4g}): look at them, "
                "and leave them out if they are faults"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what is saved with a model: the numbers without the policy."""
        low, high = self.rate.interval
        return {
            "budget": str(self.budget), "seconds_per_step": self.seconds_per_step,
            "steps": self.steps, "events": self.rate.events, "rate": self.rate.value,
            "interval": [low, high], "promise": self.promise, "outlying": len(self.outlying),
        }  # fmt: skip

    def _describe(self, rate: Rate) -> str:
        low, high = rate.interval
        words = f"95 % interval {_rate(low)} to {_rate(high)}"
        return f"{_rate(rate.value)} per {self.budget.period} ({words})"

    def _amount(self, steps: int | None = None) -> str:
        steps = self.steps if steps is None else steps
        if self.seconds_per_step is None:
            return f"{steps:,} steps"
        return f"{steps * self.seconds_per_step / 3600:.3g} h"


def calibrate(
    recordings: Iterable[Recording],
    *,
    budget: str | Budget,
    shape: AlarmPolicy | None = None,
    seconds_per_step: float | None = None,
    hysteresis: float = HYSTERESIS,
    spare: float = SPARE,
) -> Calibration:
    """Return the policy with the lowest start threshold that stays within a budget.

    Parameters
    ----------
    recordings
        Scores of normal data that the detector did not learn from.
    budget
        Accepted events, such as ``"1 per hour"``.
    shape
        A policy whose durations, gaps and severities are kept; its thresholds are replaced.
    seconds_per_step
        Time between two rows; needed for budgets per hour or day.
    hysteresis
        How far below the start threshold an event ends: 0 at it, 1 at the usual score, the median.
    spare
        Events of the budget that the calibration data must leave.
    """
    known, budget = list(recordings), Budget.parse(budget)
    if seconds_per_step is not None:
        check_float("seconds_per_step", seconds_per_step, above=0)
    check_float("hysteresis", hysteresis, low=0, below=1)
    period = budget.steps(seconds_per_step)
    steps = sum(recording.steps for recording in known)
    if steps == 0:
        raise InputError(
            "the calibration data has no row with a score; give recordings longer than a window"
        )
    check_float("spare", spare, low=0)
    family = _Family(known, shape or AlarmPolicy(start=0.0), hysteresis, spare)
    policy, events = family.choose(steps / period * budget.events)
    checked = None
    if sum(recording.steps > 0 for recording in known) > 1:
        checked = Rate.of(_cross_check(known, family, budget, period), steps=steps, period=period)
    return Calibration(
        policy=replace(policy, pace=budget.events / period), budget=budget,
        seconds_per_step=seconds_per_step, steps=steps,
        rate=Rate.of(events, steps=steps, period=period), checked=checked,
        outlying=tuple(
            (known[i].name, event)
            for i, event in find_outlying(
                [(r.scores, r.cuts, r.times) for r in known], policy, level=family.level
            )
        ),
    )  # fmt: skip


class _Family:
    """Policies of one shape that differ in their start threshold, on some recordings."""

    def __init__(
        self, recordings: Sequence[Recording], shape: AlarmPolicy, hysteresis: float, spare: float
    ) -> None:
        self.recordings, self.shape = recordings, shape
        self.hysteresis, self.spare = hysteresis, spare
        scores = np.concatenate([recording.scores for recording in recordings])
        self.level = float(np.nanmedian(scores))

    def policy(self, start: float) -> AlarmPolicy:
        """Return the policy with a start threshold; the usual score is never above it."""
        level = min(self.level, start)
        end = end_threshold(start, level=level, hysteresis=self.hysteresis)
        return replace(self.shape, start=start, end=min(end, start), level=level)

    def count(self, policy: AlarmPolicy) -> int:
        """Return the number of events in all recordings."""
        return sum(count_events(r.scores, policy, cuts=r.cuts) for r in self.recordings)

    def choose(self, most: float) -> tuple[AlarmPolicy, int]:
        """Return the policy to use if at most so many events are allowed, and its events."""
        most = (most - self.spare) * (1 + 1e-12)
        best: tuple[AlarmPolicy, int] | None = None
        for start in self.candidates():
            policy = self.policy(start)
            events = self.count(policy)
            if events > max(most, 0.0):
                break
            if best is None or events >= best[1]:
                best = policy, events
        if best is None:  # the first candidate has no events, so this cannot be
            raise InputError("no threshold keeps the calibration data within the budget")
        return best

    def candidates(self) -> Iterable[float]:
        """Yield start thresholds from the highest, which has no events, down to the usual score."""
        found = [peaks(r.scores, r.cuts, self.shape.min_duration) for r in self.recordings]
        values = np.unique(np.concatenate([np.empty(0), *found]))
        values = values[values > self.level]
        if len(values) == 0:
            highest = np.nanmax(np.concatenate([r.scores for r in self.recordings]))
            yield float(highest)
            return
        yield float(values[-1] + MARGIN * (values[-1] - self.level))
        for lower, upper in pairwise([self.level, *values.tolist()][::-1]):
            yield (lower + upper) / 2


def peaks(scores: Scores, cuts: Sequence[int], rows: int) -> Scores:
    """Return the thresholds below which a run of so many rows above them appears.

    These are the local maxima of the smallest score of so many consecutive rows.

    >>> peaks(np.array([0.0, 3, 1, 2, 2, 0]), (), 1)
    array([3., 2., 2.])
    """
    found = [np.empty(0)]
    walls = [0, *sorted(cuts), len(scores)]
    for start, stop in pairwise(walls):
        part = scores[start:stop]
        if len(part) < rows:
            continue
        lowest = sliding_window_view(part, rows).min(axis=1) if rows > 1 else part
        lowest = np.where(np.isnan(lowest), -np.inf, lowest)
        padded = np.concatenate([[-np.inf], lowest, [-np.inf]])
        is_peak = (lowest >= padded[:-2]) & (lowest >= padded[2:]) & np.isfinite(lowest)
        found.append(lowest[is_peak])
    return np.concatenate(found)


def _cross_check(
    recordings: Sequence[Recording], family: _Family, budget: Budget, period: float
) -> int:
    """Return the events of each recording at the threshold chosen on the others."""
    events = 0
    for i, recording in enumerate(recordings):
        others = [other for k, other in enumerate(recordings) if k != i]
        steps = sum(other.steps for other in others)
        if steps == 0:
            continue
        rest = _Family(others, family.shape, family.hysteresis, family.spare)
        policy, _ = rest.choose(steps / period * budget.events)
        events += count_events(recording.scores, policy, cuts=recording.cuts)
    return events


def _rate(value: float) -> str:
    """Return a rate with two digits, without an exponent.

    >>> _rate(179.8), _rate(0.966)
    ('180', '0.97')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _events(count: int) -> str:
    return f"{count} event{'s' if count != 1 else ''}"
