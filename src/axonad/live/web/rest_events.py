"""REST: events, and what people do about them."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, Field

from axonad.data.raster import SECOND
from axonad.live.record import Action, EventQuery, EventRecord
from axonad.live.web.answers import EventAnswer, EventsAnswer
from axonad.live.web.names import checked, from_cursor, from_path, to_cursor, to_micros
from axonad.live.web.rest import BEARER, PREFIX, PROBLEMS, After, Limit
from axonad.live.web.site import Here, Site, Who

LONGEST_COMMENT = 4_000  # characters
ONLY_SET: dict[str, Any] = {"response_model_exclude_unset": True}  # without a link if there is none

router = APIRouter(prefix=PREFIX, tags=["events"], responses=PROBLEMS, dependencies=[BEARER])


class Comment(BaseModel):
    """What a person has to say."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_COMMENT)]


@router.get("/events", summary="Events, newest first", **ONLY_SET)
def list_events(
    site: Here,
    vehicle: Annotated[str, Query(description="Its whole name.")] = "",
    kind: Annotated[str, Query(description="anomaly, data or drift")] = "",
    severity: Annotated[str, Query(description="warning, alarm or critical")] = "",
    status: Annotated[str, Query(description="firing or resolved")] = "",
    acknowledged: bool | None = None,
    shelved: bool | None = None,
    since: Annotated[datetime | None, Query(description="Those that end then or later.")] = None,
    until: Annotated[datetime | None, Query(description="Those that begin before.")] = None,
    limit: Limit = 100,
    after: After = "",
) -> EventsAnswer:
    """Return a page of the events that match all filters."""
    query = EventQuery(
        vehicle=checked(vehicle), kind=checked(kind), severity=checked(severity),
        status=checked(status), acknowledged=acknowledged, shelved=shelved,
        since=None if since is None else to_micros(since),
        until=None if until is None else to_micros(until),
        before=read_place(after), limit=limit + 1,
    )  # fmt: skip
    events, following = page_of(site, query)
    return EventsAnswer(events=[answer_of(site, event) for event in events], next=following)


@router.get("/events/{id}", summary="One event", **ONLY_SET)
def get_event(site: Here, id: str) -> EventAnswer:
    """Return an event by its id."""
    return answer_of(site, find_event(site, id))


@router.post("/events/{id}/acknowledge", summary="Say that somebody takes care of it", **ONLY_SET)
def acknowledge_event(site: Here, who: Who, id: str) -> EventAnswer:
    """Mark an event as acknowledged and return it."""
    return answer_of(site, act(site, id, "acknowledge", author=who.name))


@router.post("/events/{id}/unacknowledge", summary="Take that back", **ONLY_SET)
def unacknowledge_event(site: Here, who: Who, id: str) -> EventAnswer:
    """Mark an event as not acknowledged and return it."""
    return answer_of(site, act(site, id, "unacknowledge", author=who.name))


@router.post("/events/{id}/shelve", summary="Set it aside", **ONLY_SET)
def shelve_event(site: Here, who: Who, id: str) -> EventAnswer:
    """Mark an event as shelved and return it."""
    return answer_of(site, act(site, id, "shelve", author=who.name))


@router.post("/events/{id}/unshelve", summary="Take it up again", **ONLY_SET)
def unshelve_event(site: Here, who: Who, id: str) -> EventAnswer:
    """Mark an event as not shelved and return it."""
    return answer_of(site, act(site, id, "unshelve", author=who.name))


@router.post("/events/{id}/comment", summary="Write something about it", **ONLY_SET)
def comment_event(site: Here, who: Who, id: str, comment: Comment) -> EventAnswer:
    """Add a comment to an event and return it."""
    return answer_of(site, act(site, id, "comment", author=who.name, text=comment.text))


def answer_of(site: Site, event: EventRecord) -> EventAnswer:
    """Return the answer of an event, with a link to its page if the address of that is known."""
    return EventAnswer.of(event, public_url=site.config.server.public_url)


def act(site: Site, id: str, what: str, *, author: str, text: str = "") -> EventRecord:
    """Store what a person does to an event, and tell all pages."""
    text = text.replace("\0", "\ufffd")  # which no database can hold
    micros = int(time.time() * SECOND)
    action = Action(what, author=author, text=text, time=micros)
    event = site.engine.act(from_path(id), action)
    if event is None:
        raise no_event(id)
    site.feed.tell_of(event)
    return event


def find_event(site: Site, id: str) -> EventRecord:
    """Return an event; raise 404 if it is not known."""
    event = site.engine.event(from_path(id))
    if event is None:
        raise no_event(id)
    return event


def no_event(id: str) -> HTTPException:
    """Return the answer to an id that is not known."""
    return HTTPException(404, f"no event {from_path(id)[:40]!r} is known")


def page_of(site: Site, query: EventQuery) -> tuple[list[EventRecord], str | None]:
    """Return events, one fewer than the limit, and the cursor if there are more."""
    found = site.engine.events(query)
    events = found[: query.limit - 1]
    if len(found) < query.limit or not events:
        return events, None
    return events, to_cursor(events[-1].begins, events[-1].id)


def read_place(after: str) -> Any:
    """Return the place in a list that a cursor names."""
    return from_cursor(after, int, str) if after else None
