"""When scores become an event: the numbers a state machine of alarms works with."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from axonad.alarms.event import SEVERITIES
from axonad.config import check_float, check_int, check_names
from axonad.errors import ConfigError
from axonad.modelfile import check_entries


@dataclass(frozen=True, kw_only=True)
class AlarmPolicy:
    """What starts, keeps and ends an event, and how severe it is.

    Parameters
    ----------
    start
        Score above which an event begins.
    end
        Score above which it goes on; at most ``start``. None stands for ``start``.
    level
        Usual score of normal data, below ``start``; the unit of severity is ``start - level``. None
        if it is not known: then only the duration decides.
    min_duration
        Consecutive rows above ``start`` after which an event fires; until then it is pending.
    keep_firing
        Rows for which an event fires on after its last score above ``end``.
    merge_gap
        Rows within which a new event is taken for the last one, which is reopened.
    cause_gap
        The same, if the channel blamed most is the same too. No effect where channels are unknown.
    far
        Peaks, in units of ``start - level`` above ``level``, from which an event is an alarm and
        critical. The threshold itself is at 1.
    long
        Rows from which an event is one step more severe; None if its duration does not matter.
    rise, settle, recover
        How fast both thresholds follow scores that stay high, in units of ``start - level`` per
        row; see :class:`~axonad.alarms.machine.AdaptiveThreshold`. With a ``rise`` of 0 they do
        not.
    allowance
        Rows in alarm, per row below ``start``, before the thresholds rise.
    pace
        Events per row that the budget allows; 0 if it is not known.
    burst
        Events within the time in which the budget allows one, beyond which the last one may gather
        those that follow; see :class:`~axonad.alarms.machine.AlarmFlood`. With 0, or without
        ``pace`` and ``level``, none ever does.
    """

    start: float
    end: float | None = None
    level: float | None = None
    min_duration: int = 1
    keep_firing: int = 0
    merge_gap: int = 0
    cause_gap: int = 0
    far: tuple[float, float] = (2.0, 4.0)
    long: int | None = None
    rise: float = 0.0
    settle: float = 0.0
    recover: float = 0.0
    allowance: float = 0.0
    pace: float = 0.0
    burst: int = 4

    def __post_init__(self) -> None:
        check_float("start", self.start)
        if self.end is not None:
            check_float("end", self.end)
            if self.end > self.start:
                raise ConfigError(
                    f"end must be at most start ({self.start:g}), got {self.end:g}; an event ends "
                    "at a lower score than it starts"
                )
        if self.level is not None:
            check_float("level", self.level, high=self.start)
        check_int("min_duration", self.min_duration, low=1)
        for name in ("keep_firing", "merge_gap", "cause_gap", "burst"):
            check_int(name, getattr(self, name), low=0)
        if self.long is not None:
            check_int("long", self.long, low=1)
        for name in ("rise", "settle", "recover", "allowance", "pace"):
            check_float(name, getattr(self, name), low=0)
        if not isinstance(self.far, tuple) or len(self.far) != 2:
            raise ConfigError(f"far must be two numbers, got {self.far!r:.60}")
        check_float("far", self.far[0], low=1)
        check_float("far", self.far[1], low=self.far[0])

    @property
    def release(self) -> float:
        """Score above which an event goes on."""
        return self.start if self.end is None else self.end

    @property
    def reach(self) -> int:
        """Most rows after which a new event may still be taken for the last one."""
        return max(self.merge_gap, self.cause_gap)

    def excess(self, score: float) -> float:
        """Return how far a score is from the usual level, in units of the threshold's distance.

        >>> AlarmPolicy(start=3.0, level=1.0).excess(5.0)
        2.0
        """
        if self.level is None:
            return 1.0
        unit = self.start - self.level
        return (score - self.level) / unit if unit > 0 else math.inf

    def severity(self, *, peak: float, rows: int) -> str:
        """Return how severe an event is: by its peak, and one step more if it is long.

        >>> AlarmPolicy(start=3.0, level=1.0, long=60).severity(peak=5.0, rows=100)
        'critical'
        """
        excess = self.excess(peak)
        steps = sum(excess >= bound for bound in self.far)
        steps += self.long is not None and rows >= self.long
        return SEVERITIES[min(steps, len(SEVERITIES) - 1)]

    def moved(self, start: float) -> Self:
        """Return the policy with another start threshold.

        The end threshold moves along: it stays at the same share of the way from ``level`` to
        ``start``.
        """
        if self.level is None or self.level >= min(start, self.start):
            level = None if self.level is None or self.level > start else self.level
            end = None if self.end is None else min(self.end, start)
            return dataclasses.replace(self, start=start, end=end, level=level)
        if self.end is None:
            return dataclasses.replace(self, start=start)
        end = end_threshold(start, level=self.level, hysteresis=1 - self.excess(self.end))
        return dataclasses.replace(self, start=start, end=min(end, start))

    def to_json(self) -> dict[str, Any]:
        """Return the policy as JSON values."""
        return {**asdict(self), "far": list(self.far)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the policy of a document; raise an error if it does not fit."""
        values = dict(check_entries("policy", document))
        check_names(cls, values)
        values["start"] = document["start"]
        if isinstance(values.get("far"), list):
            values["far"] = tuple(values["far"])
        return cls(**values)


def end_threshold(start: float, *, level: float, hysteresis: float) -> float:
    """Return the end threshold that is this share of the way down from ``start`` to ``level``."""
    return start - hysteresis * (start - level)
