"""REST: vehicles, their scores and values."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Security
from fastapi.security import HTTPBearer

from axonad.errors import InputError
from axonad.live.web.answers import CourseAnswer, ErrorAnswer, VehicleAnswer, VehiclesAnswer
from axonad.live.web.names import from_cursor, from_path, to_cursor, to_micros
from axonad.live.web.site import Here

PREFIX = "/api/v1"
FOREVER = 2**62  # microseconds
MOST_ROWS = 10_000
BEARER = Security(HTTPBearer(auto_error=False, description="A key made by `axonad live-key add`."))
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorAnswer, "description": text}
    for code, text in (
        (400, "The request cannot be read."),
        (401, "A key is needed."),
        (403, "The key may read only, or the request came from another site."),
        (404, "Nothing of that name is known."),
        (413, "The body is too large."),
        (421, "The host name is not known here."),
        (422, "The request cannot be used."),
        (429, "Too many requests."),
        (503, "Not possible at the moment; try again later."),
    )
}

router = APIRouter(prefix=PREFIX, tags=["vehicles"], responses=PROBLEMS, dependencies=[BEARER])

Limit = Annotated[int, Query(ge=1, le=1_000, description="Entries of a page.")]
After = Annotated[str, Query(max_length=2_000, description="The `next` of the page before.")]


@router.get("/vehicles", summary="Vehicles by name")
def list_vehicles(
    site: Here,
    state: Annotated[str, Query(description="ok, alarm, drift or no data")] = "",
    search: Annotated[str, Query(description="Part of the name.")] = "",
    limit: Limit = 100,
    after: After = "",
) -> VehiclesAnswer:
    """Return a page of vehicles, those of a state or with a text in their name."""
    part = search.casefold()
    found = [
        status
        for status in site.engine.vehicles()
        if state in ("", status.state) and part in status.vehicle.casefold()
    ]
    found.sort(key=lambda status: status.vehicle)
    start = 0
    if after:
        (last,) = from_cursor(after, str)
        start = bisect_right(found, last, key=lambda status: status.vehicle)
    page = found[start : start + limit]
    more = start + limit < len(found)
    return VehiclesAnswer(
        vehicles=[VehicleAnswer.of(status) for status in page],
        next=to_cursor(page[-1].vehicle) if more else None,
    )


@router.get("/vehicles/{vehicle}", summary="The state of a vehicle")
def get_vehicle(site: Here, vehicle: str) -> VehicleAnswer:
    """Return a vehicle; its name is one part of the path, with a slash as %2F."""
    status = site.engine.vehicle(from_path(vehicle))
    if status is None:
        raise no_vehicle(from_path(vehicle))
    return VehicleAnswer.of(status)


@router.get("/vehicles/{vehicle}/scores", summary="Scores and values of a vehicle")
def get_scores(
    site: Here,
    vehicle: str,
    start: Annotated[datetime | None, Query(description="First time; default: all.")] = None,
    end: Annotated[datetime | None, Query(description="Time after the last.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of a page.")] = 1_000,
    after: After = "",
) -> CourseAnswer:
    """Return stored rows in order of time."""
    name = from_path(vehicle)
    first = -FOREVER if start is None else to_micros(start)
    last = FOREVER if end is None else to_micros(end)
    if last < first:
        raise InputError("end must not be before start")
    if after:
        (first,) = from_cursor(after, int)
    course = site.engine.course(name, first, last, rows=limit + 1)
    if course is None and site.engine.vehicle(name) is None:
        raise no_vehicle(name)
    return CourseAnswer.of(name, site.engine.model.channels, course, limit=limit)


@router.get("/vehicles/{vehicle}/recent", summary="The newest rows of a vehicle")
def get_recent(
    site: Here,
    vehicle: str,
    rows: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows at most.")] = 600,
) -> CourseAnswer:
    """Return the newest rows in memory, in order of time."""
    name = from_path(vehicle)
    course = site.engine.recent(name, rows=rows)
    if course is None and site.engine.vehicle(name) is None:
        raise no_vehicle(name)
    return CourseAnswer.of(name, site.engine.model.channels, course, limit=rows)


def no_vehicle(name: str) -> HTTPException:
    """Return the answer to a name that is not known."""
    return HTTPException(404, f"no vehicle {name!r} is known")
