"""Drift in words: which channels have shifted, how far, and the sentence of the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axonad.alarms.drift_blocks import RELATION, SPREAD
from axonad.alarms.drift_evidence import UP
from axonad.alarms.event import AlarmEvent

NAMED = 3  # channels described


@dataclass(frozen=True)
class Shift:
    """How one statistic of a channel has shifted.

    ``size`` is the difference of levels in standard deviations of normal rows, or the ratio of
    spreads; ``unit`` is the standard deviation in units of the channel.
    """

    what: str
    column: int
    side: int
    size: float
    name: str
    unit: float

    def __str__(self) -> str:
        if self.what != SPREAD:
            side = "higher" if self.side == UP else "lower"
            size = abs(self.size)
            return f"{self.name} {side} by {size * self.unit:.3g} ({size:.2g} sd)" + (
                " than the others suggest" if self.what == RELATION else ""
            )
        return f"{self.name} varies {self.size:.2g} times as much"

    @property
    def distance(self) -> float:
        """How large the shift is, to compare shifts."""
        if self.what != SPREAD:
            return abs(self.size)
        return max(self.size, 1 / max(self.size, 1e-6)) - 1


def order(shifts: Sequence[Shift], *, score: int) -> tuple[str, ...]:
    """Return the names of the channels, the largest shift first; column ``score`` is none."""
    ordered = sorted((one for one in shifts if one.column != score), key=lambda one: -one.distance)
    return tuple(dict.fromkeys(one.name for one in ordered))


def describe(shifts: Sequence[Shift], *, judged: int, score: int) -> str:
    """Return how many of the judged channels have shifted, and which most."""
    ordered = sorted((one for one in shifts if one.column != score), key=lambda one: -one.distance)
    first = {one.name: one for one in reversed(ordered)}
    named = sorted(first.values(), key=lambda one: -one.distance)
    if not named:
        return f"scores are higher, none of {judged} channels shifted by itself"
    listed = ", ".join(map(str, named[:NAMED]))
    more = f", and {len(named) - NAMED} more" if len(named) > NAMED else ""
    also = ", and scores are higher" if any(one.column == score for one in shifts) else ""
    return f"{len(named)} of {judged} channels shifted: {listed}{more}{also}"


def sentence(event: AlarmEvent, *, since: str, until: str = "") -> str:
    """Return the verdict of a drift; ``until`` is when it ended, empty if it goes on."""
    if event.status == "firing" or not until:
        return (
            f"drift: since {since} the data no longer looks like training ({event.reason}); scores "
            "are not trustworthy: recalibrate or retrain"
        )
    return (
        f"drift: from {since} to {until} the data did not look like training ({event.reason}); "
        "scores in between are not trustworthy"
    )
