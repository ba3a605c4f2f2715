"""The pages of events: the list, one event as the report tells it, and the forms of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool

from axonad.alarms.event import ANOMALY
from axonad.data.raster import SECOND
from axonad.errors import AxonADError
from axonad.live.record import ACTIONS, EventQuery, EventRecord
from axonad.live.web.explaining import KIND_WORDS, rows_around, told_by_reason
from axonad.live.web.names import checked, to_words
from axonad.live.web.rendering import as_html, go_to, render
from axonad.live.web.rest_events import LONGEST_COMMENT, act, find_event, page_of, read_place
from axonad.live.web.site import Here, Site, Who
from axonad.report.amounts import format_duration
from axonad.report.page.content import (
    DATE,
    Card,
    EventView,
    Overview,
    Page,
    RecordingView,
    Source,
)
from axonad.report.page.document import data_block
from axonad.report.page.event_section import render_event

PER_PAGE = 50
NOTHING: Any = np.zeros(0)
CHOICES = {
    "kind": ("anomaly", "data", "drift"),
    "severity": ("critical", "alarm", "warning"),
    "status": ("firing", "resolved"),
    "care": ("open", "acknowledged", "shelved"),
}
CARE: dict[str, dict[str, bool]] = {
    "open": {"acknowledged": False, "shelved": False},
    "acknowledged": {"acknowledged": True},
    "shelved": {"shelved": True},
}
FIELDS = 20  # of a form

router = APIRouter(include_in_schema=False)


@router.get("/events")
def show_events(
    request: Request, site: Here, vehicle: str = "", kind: str = "", severity: str = "",
    status: str = "", care: str = "", after: str = "",
) -> HTMLResponse:  # fmt: skip
    """Show the events that match, newest first."""
    query = EventQuery(
        vehicle=checked(vehicle), kind=checked(kind), severity=checked(severity),
        status=checked(status), before=read_place(after), limit=PER_PAGE + 1, **CARE.get(care, {}),
    )  # fmt: skip
    events, following = page_of(site, query)
    chosen = {"vehicle": vehicle, "kind": kind, "severity": severity, "status": status,
              "care": care}  # fmt: skip
    used = {name: value for name, value in chosen.items() if value}
    values = {
        "events": events,
        "chosen": chosen,
        "choices": CHOICES,
        "is_filtered": bool(used),
        "is_later": bool(after),
        "first": f"/events?{urlencode(used)}",
        "following": f"/events?{urlencode({**used, 'after': following})}" if following else "",
    }
    return render(request, "events.html", values)


@router.get("/events/{id}")
def show_event(request: Request, site: Here, id: str) -> HTMLResponse:
    """Show one event with its explanation."""
    event = find_event(site, id)
    view, note = _explained(site, event)
    recording = _recording(event, view, site.engine.model.threshold)
    page = Page(event.vehicle, Card(site.engine.model.name, ()), (recording,))
    values = {
        "event": event,
        "section": as_html(render_event(recording, view)),
        "numbers": as_html(data_block(page)),
        "note": note,
        "longest": LONGEST_COMMENT,
    }
    return render(request, "event.html", values)


@router.post("/events/{id}/act")
async def act_on_event(request: Request, site: Here, who: Who, id: str) -> RedirectResponse:
    """Do what a form says, then show the page it came from."""
    form = await read_form(request)
    check_token(site, who.session, form)
    what, text = form.get("what", ""), form.get("text", "").strip()
    if what not in ACTIONS:
        raise HTTPException(422, f"what must be one of {', '.join(ACTIONS)}")
    if what == "comment" and not 0 < len(text) <= LONGEST_COMMENT:
        raise HTTPException(422, f"a comment must have 1 to {LONGEST_COMMENT:,} characters")
    await run_in_threadpool(act, site, id, what, author=who.name, text=text)
    return go_to(form.get("next", "/events"))


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(422, "this address takes the forms of the page")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise HTTPException(422, "the form cannot be read") from None
    return dict(pairs)


def check_token(site: Site, session: str, form: dict[str, str]) -> None:
    """Raise 403 if a form is not one that we gave to this browser."""
    if not site.door.is_own_form(session, form.get("token", "")):
        raise HTTPException(403, "the page is too old, or of another site; load it again")


def _explained(site: Site, event: EventRecord) -> tuple[EventView, str]:
    """Return the event as the report tells it, and why some of that is missing."""
    plain = _plain(event, site.engine.model.threshold)
    if site.explain is None:
        return plain, "Events are not explained here."
    course = rows_around(site.engine, site.explain, event)
    if course is None:
        return plain, "The rows of this event are no longer stored."
    try:
        view = site.explain(course, event)
    except AxonADError as error:
        return plain, f"This event cannot be explained: {error}."
    return replace(view, key="e1", begins=plain.begins, ends=plain.ends), ""


def _plain(event: EventRecord, threshold: float) -> EventView:
    seconds = (event.ends - event.begins) / SECOND
    return EventView(
        key="e1", number=event.number,
        begins=to_words(event.begins), ends=to_words(event.ends),
        first=event.begins / SECOND, last=event.ends / SECOND,
        duration=format_duration(seconds), length=seconds,
        severity=event.severity, score=event.score, threshold=threshold,
        channels=event.channels, kind=KIND_WORDS.get(event.kind, ""),
        sentence="" if event.kind == ANOMALY else told_by_reason(event),
    )  # fmt: skip


def _recording(event: EventRecord, view: EventView, threshold: float) -> RecordingView:
    """Return the little that the section of an event needs to know of its recording."""
    return RecordingView(
        key="r1", source=Source(event.vehicle), axis=DATE, first=view.first, last=view.last,
        rows=0, scored=0, channels=0, hours=None, interval=None, breaks=0, missing=0,
        threshold=threshold, events=(view,), problems=(), overview=Overview(NOTHING, NOTHING, ()),
    )  # fmt: skip
