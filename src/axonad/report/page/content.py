"""What is on the page, as plain data: nothing here knows HTML or a detector."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from axonad.selftest.result import SelfTest

Array = NDArray[np.float64]

DATE, SECONDS, STEP = "date", "seconds", "step"
"""What positions on a time axis are: seconds since 1970, other seconds, or numbers of rows."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A channel around an event, beside what was expected of it; NaN where that is not known."""

    name: str
    x: Array
    actual: Array
    expected: Array
    low: Array
    high: Array

    @property
    def has_expectation(self) -> bool:
        """Whether anything was expected."""
        return bool(np.isfinite(self.expected).any())


@dataclass(frozen=True, eq=False)
class Scatter:
    """A relation between channels: predicted against actual values, in training and now."""

    words: str
    ratio: float
    then_predicted: Array
    then_actual: Array
    now_predicted: Array
    now_actual: Array


@dataclass(frozen=True)
class EventView:
    """One event as the page tells it.

    ``key`` is its anchor, ``number`` its place on the page. ``first`` and ``last`` are positions
    on the time axis of the recording, ``begins`` and ``ends`` the same as words.
    """

    key: str
    number: int
    begins: str
    ends: str
    first: float
    last: float
    duration: str
    length: float
    """Seconds, or rows without times."""
    severity: str
    score: float
    threshold: float
    channels: tuple[str, ...]
    kind: str = ""
    sentence: str = ""
    counterfactual: str = ""
    parts: tuple[tuple[str, float], ...] = ()
    curves: tuple[Curve, ...] = ()
    relations: tuple[Scatter, ...] = ()
    is_listed_only: bool = False
    """Whether it has a line in the table of events and no section of its own."""


@dataclass(frozen=True)
class Problem:
    """Values that are no measurements: when, why, in which channels."""

    begins: str
    ends: str
    first: float
    last: float
    duration: str
    length: float
    reason: str
    channels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Overview:
    """The whole recording, reduced to a few points: score and channels."""

    x: Array
    score: Array
    channels: tuple[tuple[str, Array], ...]


@dataclass(frozen=True)
class Source:
    """The file a recording came from."""

    name: str
    size: int | None = None
    sha256: str = ""


@dataclass(frozen=True, eq=False)
class RecordingView:
    """One recording as the page tells it.

    ``drift`` are sentences about drift; None if it was not judged. ``notes`` are what was odd about
    the data. ``expected_events`` is the number of false events the budget accepts in this time.
    """

    key: str
    source: Source
    axis: str
    first: float
    last: float
    rows: int
    scored: int
    channels: int
    hours: float | None
    interval: float | None
    breaks: int
    missing: int
    threshold: float
    events: tuple[EventView, ...]
    problems: tuple[Problem, ...]
    overview: Overview
    drift: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    expected_events: float | None = None


@dataclass(frozen=True)
class Failure:
    """A recording that could not be scored, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Card:
    """What is known about the model: names and values, and the budget of its alarms."""

    model: str
    rows: tuple[tuple[str, str], ...]
    budget: str | None = None
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Page:
    """Everything on the page."""

    title: str
    card: Card
    recordings: tuple[RecordingView, ...]
    failures: tuple[Failure, ...] = ()
    commands: tuple[str, ...] = ()
    selftest: SelfTest | None = None
    version: str = ""
    listed_only: int = field(default=0)
    """Events without plots, because only the strongest have them."""

    @property
    def events(self) -> tuple[tuple[RecordingView, EventView], ...]:
        """All events with their recordings, in the order of the page."""
        return tuple((one, event) for one in self.recordings for event in one.events)
