"""Logging in and out: a key becomes a session in a cookie that scripts cannot read."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from axonad.live.web.event_pages import check_token, read_form
from axonad.live.web.rendering import go_to, local_place, render
from axonad.live.web.security import COOKIE, cookie_options
from axonad.live.web.site import Here, Who

router = APIRouter(include_in_schema=False)


@router.get("/login")
def show_login(request: Request, site: Here, next: str = "/") -> Response:
    """Ask for a key; without keys there is nothing to ask."""
    if site.door.keys is None:
        return go_to(next)
    return render(request, "login.html", {"next": local_place(next), "wrong": False})


@router.post("/login")
async def log_in(request: Request, site: Here) -> Response:
    """Open a session for a known key.

    The form has no token: there is no session yet, and the guard lets only our own page send it.
    """
    form = await read_form(request)
    place = local_place(form.get("next", "/"))
    session = site.door.log_in(form.get("key", ""))
    if session is None:
        return render(request, "login.html", {"next": place, "wrong": True}, status=403)
    answer = go_to(place)
    answer.set_cookie(COOKIE, session, **cookie_options(request.scope))
    return answer


@router.post("/logout")
async def log_out(request: Request, site: Here, who: Who) -> Response:
    """Forget the session of this browser."""
    check_token(site, who.session, await read_form(request))
    answer = go_to("/login")
    answer.delete_cookie(COOKIE, path="/")
    return answer
