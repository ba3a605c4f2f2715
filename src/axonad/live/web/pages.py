"""The pages of the fleet and of one vehicle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from axonad.errors import AxonADError
from axonad.live.record import STATES, EventQuery, EventRecord, VehicleStatus
from axonad.live.web.names import from_path
from axonad.live.web.rendering import as_html, render
from axonad.live.web.rest import no_vehicle
from axonad.live.web.site import Here, Site
from axonad.live.web.vehicle_topic import MOST_CHANNELS, ROWS, chosen_channels, newest_rows
from axonad.report.page.content import Curve
from axonad.report.page.pictures import curve_picture

PER_PAGE = 250  # vehicles
MOST_EVENTS = 10  # of a vehicle, on its page
WORST = {state: place for place, state in enumerate(("alarm", "drift", "no data", "ok"))}
SORTS: dict[str, Callable[[VehicleStatus], Any]] = {
    "state": lambda one: (WORST.get(one.state, 9), -len(one.firing), one.vehicle),
    "name": lambda one: one.vehicle,
    "score": lambda one: (-(one.score if one.score is not None else -1e300), one.vehicle),
    "data": lambda one: (-one.last_time, one.vehicle),
    "events": lambda one: (-len(one.firing), one.vehicle),
}
"""What the overview can be sorted by; the most urgent first."""

router = APIRouter(include_in_schema=False)


@router.get("/")
def show_fleet(
    request: Request, site: Here, search: str = "", state: str = "", sort: str = "state",
    page: int = 1,
) -> HTMLResponse:  # fmt: skip
    """Show all vehicles, or those of a search."""
    every = site.engine.vehicles()
    part = search.casefold()
    found = [one for one in every if state in ("", one.state) and part in one.vehicle.casefold()]
    sort = sort if sort in SORTS else "state"
    found.sort(key=SORTS[sort])
    pages = max(1, -(-len(found) // PER_PAGE))
    page = min(max(1, page), pages)
    values = {
        "counts": dict.fromkeys(STATES, 0) | Counter(one.state for one in every),
        "every": len(every),
        "found": len(found),
        "vehicles": found[(page - 1) * PER_PAGE : page * PER_PAGE],
        "search": search,
        "state": state,
        "states": STATES,
        "sort": sort,
        "page": page,
        "pages": pages,
        "model": site.engine.model,
    }
    return render(request, "fleet.html", values)


@router.get("/vehicles/{vehicle}")
def show_vehicle(request: Request, site: Here, vehicle: str, search: str = "") -> HTMLResponse:
    """Show the newest rows of a vehicle and its last events."""
    name = from_path(vehicle)
    status = site.engine.vehicle(name)
    if status is None:
        raise no_vehicle(name)
    model = site.engine.model
    newest = newest_rows(site.engine, name, site.expect, search=search)
    places = chosen_channels(model.channels, search)
    figures = [
        {
            "place": place,
            "name": curve.name,
            "unit": model.units.get(curve.name, ""),
            "picture": _picture(curve),
        }
        for place, curve in enumerate(newest.curves)
    ]
    values = {
        "status": status,
        "model": model,
        "figures": figures,
        "search": search,
        "shown": len(places),
        "most": MOST_CHANNELS,
        "rows": ROWS,
        "events": _last_events(site, name),
    }
    return render(request, "vehicle.html", values)


def _last_events(site: Site, name: str) -> list[EventRecord] | None:
    """Return the last events of a vehicle; None if the store cannot be asked at the moment."""
    try:
        return site.engine.events(EventQuery(vehicle=name, limit=MOST_EVENTS))
    except AxonADError:
        return None


def _picture(curve: Curve) -> str:
    """Return a channel without JavaScript; no part of it is shaded."""
    if not len(curve.x):
        return ""
    after = float(curve.x[-1]) + 1e9
    return as_html(curve_picture(curve, first=after, last=after))
