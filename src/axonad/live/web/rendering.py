"""HTML of the pages: templates that escape every text, and the files they need."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException

from axonad import __version__
from axonad.data.raster import SECOND
from axonad.live.web.names import to_iso, to_path, to_words
from axonad.live.web.security import COOKIE, cookie_options
from axonad.live.web.site import site_of
from axonad.report.amounts import format_duration
from axonad.report.page import markup, resources

SHARED = ("decode.js", "charts.js", "curves.js", "keys.js")
SCRIPTS = ("connection.js", "fleet.js", "vehicle.js", "begin.js")
STYLES = ("page.css", "parts.css", "print.css")

router = APIRouter(include_in_schema=False)


@cache
def assets() -> dict[str, tuple[str, str]]:
    """Return the files of the pages by name, with their types; a name changes with its text."""
    script = resources.bundle(
        [*(resources.read_asset(name) for name in SHARED), *(_read(name) for name in SCRIPTS)]
    )
    sheets = [resources.read_asset("uplot", resources.LIBRARY_STYLE)]
    sheets += [resources.read_asset(name) for name in STYLES]
    style = "\n".join([*sheets, _read("live.css")])
    return {
        f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}": (text, kind)
        for text, ending, kind in ((script, "js", "text/javascript"), (style, "css", "text/css"))
    }


@router.get("/assets/{name}")
def get_asset(name: str) -> Response:
    """Return a script or style sheet; it never changes under its name."""
    found = assets().get(name)
    if found is None:
        raise HTTPException(404, "there is no such file; load the page again")
    text, kind = found
    return Response(
        text, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"}
    )


@cache
def environment() -> Environment:
    """Return the templates."""
    made = Environment(
        loader=PackageLoader("axonad.live.web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {
        "name": lambda text: as_html(markup.name(text)),
        "sentence": lambda text: as_html(markup.sentence(text)),
        "cleaned": markup.clean,
        "in_path": to_path,
        "iso": to_iso,
        "when": to_words,
        "number": to_number,
        "ago": to_age,
        "lasting": lambda event: format_duration((event.ends - event.begins) / SECOND),
    }
    script, style = assets()
    made.globals |= {"script": script, "style": style, "version": __version__}
    return made


def render(
    request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
) -> HTMLResponse:
    """Return a page; a browser without a session gets one, for the token of its forms."""
    site, caller = site_of(request), request.state.caller
    session = "" if caller is None else caller.session
    is_new = caller is not None and not session and site.door.keys is None
    if is_new:
        session = site.door.open_session()
    common = {
        "site": site,
        "caller": caller,
        "has_keys": site.door.keys is not None,
        "token": site.door.form_token(session) if session else "",
        "trouble": site.engine.health().told if caller is not None else "",
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "now": time.time(),
    }
    text = environment().get_template(template).render({**common, **values})
    answer = HTMLResponse(text, status_code=status)
    if is_new:
        answer.set_cookie(COOKIE, session, **cookie_options(request.scope))
    return answer


def as_html(made: markup.Markup) -> Markup:
    """Return what the report's functions made, which escape every text, for a template."""
    return Markup(made)  # noqa: S704


def go_to(place: str) -> RedirectResponse:
    """Return the answer to a form: look at a page of ours."""
    return RedirectResponse(local_place(place), 303)


def local_place(place: str) -> str:
    r"""Return a place on this server; the start for any other.

    >>> local_place("/events?x=1"), local_place("//evil"), local_place("/\\evil")
    ('/events?x=1', '/', '/')
    """
    is_ours = place.startswith("/") and not place.startswith(("//", "/\\"))
    is_plain = place.isascii() and place.isprintable() and "\\" not in place
    return place if is_ours and is_plain else "/"


def to_number(value: float | None) -> str:
    """Return a number with three digits.

    >>> to_number(12.345), to_number(None)
    ('12.3', '–')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:.3g}"


def to_age(seconds: float) -> str:
    """Return how long ago something was.

    >>> to_age(3), to_age(7500), to_age(-5)
    ('3 s', '2 h 5 min', '0 s')
    """
    if seconds < 86_400:
        return format_duration(max(0, int(seconds)))
    return f"{int(seconds // 86_400):,} d"


def _read(name: str) -> str:
    return files("axonad.live.web").joinpath("assets", name).read_text(encoding="utf-8")
