"""The streams that keep open pages up to date, as server-sent events."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from axonad.live.web.fleet_topic import FleetTopic
from axonad.live.web.names import from_path
from axonad.live.web.site import Here, Site
from axonad.live.web.vehicle_topic import VehicleTopic

router = APIRouter(include_in_schema=False)

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


@router.get("/live")
async def follow_fleet(request: Request, site: Here) -> StreamingResponse:
    """Stream what changes in the fleet."""
    messages = await site.feed.subscribe(
        "fleet",
        lambda: FleetTopic(site.engine, started=site.started),
        is_allowed=_is_allowed(request, site),
    )
    return StreamingResponse(messages, media_type="text/event-stream", headers=HEADERS)


@router.get("/live/vehicles/{vehicle}")
async def follow_vehicle(
    request: Request, site: Here, vehicle: str, search: str = ""
) -> StreamingResponse:
    """Stream the newest rows of a vehicle."""
    name = from_path(vehicle)
    messages = await site.feed.subscribe(
        (name, search),
        lambda: VehicleTopic(site.engine, name, site.expect, search=search, started=site.started),
        is_allowed=_is_allowed(request, site),
    )
    return StreamingResponse(messages, media_type="text/event-stream", headers=HEADERS)


def _is_allowed(request: Request, site: Site) -> Callable[[], bool]:
    """Return what says whether the caller of a stream is still known."""
    headers, cookies = dict(request.headers), dict(request.cookies)
    return lambda: site.door.recognise(headers, cookies) is not None
