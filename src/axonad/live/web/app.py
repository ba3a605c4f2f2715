"""The web application: all routes, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from axonad import __version__
from axonad.errors import AxonADError, InputError
from axonad.live.config import LiveConfig
from axonad.live.engine.contract import Engine, UnavailableError
from axonad.live.inbox import OverloadError
from axonad.live.store.contract import StoreUnavailableError
from axonad.live.web import (
    event_pages,
    login,
    metrics,
    pages,
    rendering,
    rest,
    rest_events,
    rest_samples,
    streams,
)
from axonad.live.web.expected import Expect
from axonad.live.web.explaining import Explain
from axonad.live.web.feed import Busy, Feed
from axonad.live.web.guard import HEADERS, Guard
from axonad.live.web.keys import Keys
from axonad.live.web.security import Door
from axonad.live.web.site import Deliver, Site

ROUTERS = (rest, rest_events, rest_samples, metrics, streams, rendering, pages, event_pages, login)
ABOUT = (
    "The state of a fleet watched by `axonad live`: vehicles, scores, events. Times are in UTC. A "
    'problem is answered as `{"error": "a sentence"}`. Names in paths are percent-encoded, a '
    "slash as %2F."
)


def create_app(
    engine: Engine,
    config: LiveConfig,
    keys: Keys | None,
    *,
    expect: Expect | None = None,
    explain: Explain | None = None,
    deliver: Deliver | None = None,
    feed: Feed | None = None,
) -> FastAPI:
    """Return the application of an engine.

    Parameters
    ----------
    engine
        What is shown; it need not be started.
    config
        Its table ``[server]`` says who may come in.
    keys
        Keys of :func:`axonad.live.web.security.open_keys`; None lets everybody in.
    expect
        The expected band of each channel on the page of a vehicle; none is drawn without.
    explain
        Tells an event by the rows around it; without, pages of events show what is stored.
    deliver
        Takes samples by HTTP; without, the address answers 404.
    feed
        What open pages follow, default: one that looks once a second.
    """
    door = Door(config.server, keys)
    site = Site(engine, config, door, Feed() if feed is None else feed, expect, explain, deliver)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await site.feed.start()
        yield
        await site.feed.stop()

    app = FastAPI(
        title="axonad live", version=__version__, description=ABOUT, lifespan=lifespan,
        docs_url=None, redoc_url=None, redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )  # fmt: skip
    app.state.site = site
    for module in ROUTERS:
        app.include_router(module.router)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(AxonADError, _answer_error)
    app.add_exception_handler(Exception, _answer_bug)
    app.add_middleware(cast(Any, Guard), server=config.server, door=door)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _answer_http(request: Request, error: Exception) -> Response:
    problem = cast(HTTPException, error)
    return _problem(request, problem.status_code, str(problem.detail), dict(problem.headers or {}))


def _answer_invalid(request: Request, error: Exception) -> Response:
    first = cast(RequestValidationError, error).errors()[0]
    where = ".".join(str(part) for part in first.get("loc", ())[1:]) or "the body"
    return _problem(request, 422, f"{where}: {first.get('msg', 'cannot be used')}")


def _answer_error(request: Request, error: Exception) -> Response:
    if isinstance(error, InputError):
        return _problem(request, 422, str(error))
    if isinstance(error, OverloadError | StoreUnavailableError | UnavailableError | Busy):
        return _problem(request, 503, str(error), {"retry-after": "1"})
    return _problem(request, 500, str(error))


def _answer_bug(request: Request, error: Exception) -> Response:
    """Answer a fault of ours; it is logged, and the guard no longer sees the answer."""
    told = {"error": "the server made a mistake; its log says which"}
    return JSONResponse(told, 500, headers=HEADERS)


def _problem(
    request: Request, status: int, sentence: str, headers: dict[str, str] | None = None
) -> Response:
    """Return a problem as a page to browsers, as JSON to everybody else."""
    path, accepts = request.scope["path"], request.headers.get("accept", "")
    if path.startswith("/api/") or "text/html" not in accepts:
        return JSONResponse({"error": sentence}, status, headers=headers)
    answer = rendering.render(
        request, "problem.html", {"status": status, "said": sentence}, status=status
    )
    answer.headers.update(headers or {})
    return answer
