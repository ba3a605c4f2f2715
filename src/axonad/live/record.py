"""What is stored and shown of vehicles: events, courses, statuses. Plain records, no behaviour."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

STATES = ("ok", "alarm", "drift", "no data")

Micros = int
"""A time in microseconds since 1970 (UTC)."""


@dataclass(frozen=True)
class EventRecord:
    """An event as it is stored; people's actions on it are kept apart from what the alarms say.

    So is the sentence, which :class:`axonad.live.sinks.sentences.Sentences` makes later.
    ``id`` is made by :func:`event_id`: the same event has the same one after a restart.
    """

    id: str
    vehicle: str
    number: int
    kind: str  # anomaly, data or drift
    severity: str
    status: str  # firing or resolved
    begins: Micros
    ends: Micros  # of the last step known
    fired: Micros
    peak: Micros
    score: float
    channels: tuple[str, ...]
    reason: str = ""
    drift: bool = False
    final: bool = False
    changed: int = 0  # commit with which it last changed
    acknowledged: bool = False
    shelved: bool = False
    comments: tuple[Mapping[str, Any], ...] = ()  # time (µs), author, text
    sentence: str = ""  # as its page tells it; empty until it is made


@dataclass(frozen=True)
class Notice:
    """Something that happened to an event, to be told to the sinks once each.

    ``id`` is unique: the event's id and what happened.
    """

    id: str
    what: str  # fired or resolved
    event: EventRecord


@dataclass(frozen=True)
class Course:
    """Rows of a vehicle in order of time: values as they came, scores (NaN without) and alarms."""

    times: NDArray[np.int64]  # microseconds
    values: NDArray[np.float32]  # (rows, channels)
    scores: NDArray[np.float32]
    alarms: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True)
class VehicleStatus:
    """What the overview shows of a vehicle."""

    vehicle: str
    state: str  # one of STATES
    last_time: Micros  # of its newest sample
    last_seen: float  # of its newest sample, by the server's clock, in seconds since 1970
    score: float | None
    rows: int
    firing: tuple[str, ...] = ()  # ids of its events that are firing
    counts: Mapping[str, int] = field(default_factory=dict)  # late, duplicate, future, held, ...


@dataclass(frozen=True)
class EventQuery:
    """Which events to return, newest first; ``before`` continues a list after its last event."""

    vehicle: str = ""
    kind: str = ""
    severity: str = ""
    status: str = ""
    acknowledged: bool | None = None
    shelved: bool | None = None
    since: Micros | None = None
    until: Micros | None = None
    before: tuple[Micros, str] | None = None  # begin and id of the last event of the page before
    changed_after: int | None = None  # commit number
    limit: int = 100


@dataclass(frozen=True)
class Action:
    """What a person does to an event."""

    what: str  # acknowledge, unacknowledge, shelve, unshelve or comment
    author: str = ""
    text: str = ""
    time: Micros = 0


ACTIONS = ("acknowledge", "unacknowledge", "shelve", "unshelve", "comment")


def event_id(vehicle: str, kind: str, number: int, generation: int) -> str:
    """Return the id of an event; ``generation`` is the time of the first sample of its stream.

    >>> event_id("car 1", "anomaly", 1, 0)
    '98fc51bd3c927a05'
    """
    text = f"{vehicle}\0{kind}\0{number}\0{generation}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
