"""What REST answers, as the OpenAPI document describes it."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from axonad.data.raster import SECOND
from axonad.live.links import event_link
from axonad.live.record import Course, EventRecord, VehicleStatus
from axonad.live.web.names import to_cursor, to_iso

Next = Annotated[
    str | None, Field(description="Send it as `after` for the next page; null at the end.")
]
Time = Annotated[str | None, Field(description="UTC, with microseconds.")]


class ErrorAnswer(BaseModel):
    """What is wrong, in a sentence."""

    error: str


class VehicleAnswer(BaseModel):
    """The newest state of a vehicle."""

    vehicle: str
    state: Annotated[str, Field(description="ok, alarm, drift or no data")]
    last_time: Time
    last_seen: Time
    score: float | None
    rows: int
    firing: Annotated[list[str], Field(description="Ids of the events that are firing.")]
    counts: dict[str, int]

    @classmethod
    def of(cls, status: VehicleStatus) -> VehicleAnswer:
        """Return the answer of a status."""
        return cls(
            vehicle=status.vehicle,
            state=status.state,
            last_time=to_iso(status.last_time),
            last_seen=to_iso(round(status.last_seen * SECOND)),
            score=finite(status.score),
            rows=status.rows,
            firing=list(status.firing),
            counts=dict(status.counts),
        )


class VehiclesAnswer(BaseModel):
    """A page of vehicles, by name."""

    vehicles: list[VehicleAnswer]
    next: Next = None


class CommentAnswer(BaseModel):
    """What a person wrote about an event."""

    time: Time
    author: str
    text: str


class EventAnswer(BaseModel):
    """An event, and what people did about it."""

    id: str
    vehicle: str
    number: int
    kind: Annotated[str, Field(description="anomaly, data or drift")]
    severity: Annotated[str, Field(description="warning, alarm or critical")]
    status: Annotated[str, Field(description="firing or resolved")]
    begins: Time
    ends: Time
    fired: Time
    peak: Time
    score: float | None
    channels: list[str]
    reason: str
    sentence: Annotated[str, Field(description="As its page tells it; empty until it is made.")]
    drift: Annotated[bool, Field(description="Whether drift held while it was firing.")]
    final: Annotated[bool, Field(description="Whether it can no longer change.")]
    acknowledged: bool
    shelved: bool
    comments: list[CommentAnswer]
    link: Annotated[str, Field(description="Of its page; absent without `public_url`.")] = ""

    @classmethod
    def of(cls, event: EventRecord, *, public_url: str) -> EventAnswer:
        """Return the answer of an event; only what is set here is sent."""
        link = event_link(public_url, event.id)
        return cls(
            id=event.id,
            vehicle=event.vehicle,
            number=event.number,
            kind=event.kind,
            severity=event.severity,
            status=event.status,
            begins=to_iso(event.begins),
            ends=to_iso(event.ends),
            fired=to_iso(event.fired),
            peak=to_iso(event.peak),
            reason=event.reason,
            sentence=event.sentence,
            drift=event.drift,
            final=event.final,
            acknowledged=event.acknowledged,
            shelved=event.shelved,
            score=finite(event.score),
            channels=list(event.channels),
            comments=[
                CommentAnswer(
                    time=to_iso(comment.get("time", 0)),
                    author=str(comment.get("author", "")),
                    text=str(comment.get("text", "")),
                )
                for comment in event.comments
            ],
            **({"link": link} if link else {}),
        )


class EventsAnswer(BaseModel):
    """A page of events, newest first."""

    events: list[EventAnswer]
    next: Next = None


class CourseAnswer(BaseModel):
    """Rows of a vehicle in columns, in order of time; null where there is no value."""

    vehicle: str
    channels: list[str]
    times: Annotated[list[float], Field(description="Seconds since 1970, UTC.")]
    scores: list[float | None]
    alarms: Annotated[list[bool], Field(description="Whether an event was firing.")]
    values: Annotated[list[list[float | None]], Field(description="One list per channel.")]
    next: Next = None

    @classmethod
    def of(
        cls, vehicle: str, channels: tuple[str, ...], course: Course | None, *, limit: int
    ) -> CourseAnswer:
        """Return the answer of a course; ``next`` if it has more than ``limit`` rows."""
        if course is None or not len(course):
            return cls(
                vehicle=vehicle, channels=list(channels), times=[], scores=[], alarms=[],
                values=[[] for _ in channels],
            )  # fmt: skip
        return cls(
            vehicle=vehicle,
            channels=list(channels),
            times=(course.times[:limit] / SECOND).tolist(),
            scores=numbers(course.scores[:limit]),
            alarms=course.alarms[:limit].tolist(),
            values=[numbers(column) for column in course.values[:limit].T],
            next=to_cursor(int(course.times[limit])) if len(course) > limit else None,
        )


class Taken(BaseModel):
    """What became of samples: how many were taken, and how many were refused for which reason."""

    accepted: int
    refused: dict[str, int]


def finite(value: float | None) -> float | None:
    """Return a number as JSON has it: None for NaN and infinity."""
    return None if value is None or not math.isfinite(value) else float(value)


def numbers(column: NDArray[Any]) -> list[float | None]:
    """Return a column as JSON has it, with the digits that single precision has."""
    rounded = [float(f"{value:.7g}") for value in column.tolist()]
    known = np.isfinite(column).tolist()
    return [value if ok else None for value, ok in zip(rounded, known, strict=True)]
