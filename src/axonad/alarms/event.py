"""An alarm event: what a person is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axonad.threshold import Event

ANOMALY, DATA, DRIFT = "anomaly", "data", "drift"
"""Classes of events: unusual behaviour by the score, values that are no measurements, and data that
no longer looks like training."""

SEVERITIES = ("warning", "alarm", "critical")


@dataclass(frozen=True)
class AlarmEvent(Event):
    """An event as the alarm policy sees it.

    It covers the steps ``[start, end)``: ``start`` is the first step of those that made it fire,
    ``end`` the step after the last one at which it was still firing. ``fired`` is the step at which
    it fired, so a person could know of it from then on.

    ``rows`` is the number of its steps without the gaps between parts that were merged.

    ``number`` counts the events of one class of one ``vehicle`` from 1. ``begins`` and ``ends`` are
    the times of the first and the last step; None without times.
    """

    number: int = 1
    fired: int = 0
    rows: int = 1
    kind: str = ANOMALY
    severity: str = SEVERITIES[0]
    reason: str = ""
    """Of data: frozen, missing, out of range or unplugged. Of drift: which channels shifted. Of an
    anomaly: that it gathers events far beyond the budget, else empty."""
    status: str = "firing"
    """``firing`` or ``resolved``."""
    vehicle: str | int | None = None
    begins: Any = None
    ends: Any = None
    drift: bool = False
    """Whether drift held while it was firing, so that its score is not to be trusted."""
    gathered: int = 0
    """Number of later events that a flood of alarms gathered into it
    (:class:`~axonad.alarms.machine.AlarmFlood`); of data, how often the channels went wrong again
    before it ended."""

    @property
    def plain(self) -> Event:
        """What is known of it without a policy: its steps, peak, score and channels."""
        return Event(self.start, self.end, self.peak, self.score, self.channels, why=self.why)


@dataclass(frozen=True)
class Change:
    """What happened to an event at a row.

    ``what`` is ``fired``, ``resolved``, ``reopened`` (it fires again within the merge gap) or
    ``final`` (it can no longer change). Every event that fires becomes final once.
    """

    what: str
    row: int
    event: AlarmEvent
