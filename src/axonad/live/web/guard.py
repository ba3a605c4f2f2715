"""The door of the server: every request passes it before anything else, and every answer after.

It checks the host name, limits headers, body and rate, recognises the caller, and refuses what the
caller may not do, so that no route can forget to. It also keeps the path as it was sent: a name
with an encoded slash stays one part of it, and routes decode their parts themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from axonad.live.config import Server
from axonad.live.web.limits import Buckets
from axonad.live.web.security import Caller, Door, is_same_origin, read_cookies

SAFE = ("GET", "HEAD", "OPTIONS")
PUBLIC = ("/health", "/ready", "/login")
MOST_HEADERS = 100
PATIENCE = 30.0  # seconds between two parts of a body
CSRF_HEADER = "x-csrf-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # "no-referrer" would make browsers send "Origin: null" with our own forms
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Guard:
    """Checks requests before ``app`` sees them."""

    def __init__(self, app: ASGIApp, *, server: Server, door: Door) -> None:
        self.app, self.server, self.door = app, server, door
        self._buckets = Buckets(server.rate, server.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self.app(scope, self._limited(receive), send)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Return the answer to a request that is refused; None if it may pass."""
        if not self.door.is_own_host(headers.get("host", "")):
            return _error(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this host name is not known here; add it to hosts of [server]",
            )
        if len(scope["headers"]) > MOST_HEADERS:
            return _error(431, f"a request may have at most {MOST_HEADERS} headers")
        client = scope.get("client") or ("",)
        if not self._buckets.take(client[0]):
            return _error(429, "too many requests; send fewer per second", {"retry-after": "1"})
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return _error(400, "the length of the body must be a number")
        if int(length) > self.server.max_body:
            return _error(413, self._too_large())
        return self._stranger(scope, headers)

    def _stranger(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Return the answer to a caller who may not do this; None if it is allowed."""
        path, method = scope["path"], scope["method"]
        is_page = not path.startswith("/api/") and path not in ("/metrics", "/openapi.json")
        caller = self.door.recognise(headers, read_cookies(headers.get("cookie", "")))
        scope.setdefault("state", {})["caller"] = caller
        if method not in SAFE and not is_same_origin(headers):
            return _error(403, "this request came from the page of another site")
        if path in PUBLIC or path.startswith("/assets/"):
            return None
        if caller is None:
            return _ask_for_key(scope, is_page=is_page)
        return None if method in SAFE else self._forbidden(path, caller, headers, is_page=is_page)

    def _forbidden(
        self, path: str, caller: Caller, headers: Mapping[str, str], *, is_page: bool
    ) -> Response | None:
        """Return the answer to a change that the caller may not make; None if it is allowed."""
        if not caller.may_write and path != "/logout":
            return _error(403, "this key may read only")
        token = headers.get(CSRF_HEADER, "")
        if is_page or not self._needs_token(caller) or self.door.is_own_form(caller.session, token):
            return None  # the forms of pages have their token in the body
        return _error(403, f"a browser has to send its token in the header {CSRF_HEADER}")

    def _needs_token(self, caller: Caller) -> bool:
        """Whether a browser sent its cookie by itself: a program with a key is no such danger."""
        return self.door.keys is not None and bool(caller.session)

    def _limited(self, receive: Receive) -> Receive:
        """Return ``receive`` that raises if a body grows too large or its parts take too long."""
        size, is_complete = 0, False

        async def limited() -> Message:
            nonlocal size, is_complete
            if is_complete:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), PATIENCE)
            except TimeoutError:
                raise HTTPException(408, "the body took too long to arrive") from None
            size += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if size > self.server.max_body:
                raise HTTPException(413, self._too_large())
            return message

        return limited

    def _too_large(self) -> str:
        return f"a body may have at most {self.server.max_body:,} bytes; send it in parts"


def _ask_for_key(scope: Scope, *, is_page: bool) -> Response:
    """Return the answer to somebody unknown: a form for a browser that opens a page."""
    if is_page and scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/live"):
        return RedirectResponse(f"/login?next={quote(_whole(scope), safe='')}", 303)
    told = {"www-authenticate": "Bearer"}
    return _error(401, "a key is needed: Authorization: Bearer axl_...", told)


def _whole(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return str(scope["path"]) + (f"?{query}" if query else "")


def _error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status_code=int(status), headers=headers)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[Any] = message.setdefault("headers", [])
            known = {name.lower() for name, _ in headers}
            for name, value in HEADERS.items():
                if name.encode() not in known:
                    headers.append((name.encode(), value.encode()))
            if b"cache-control" not in known:
                headers.append((b"cache-control", b"no-store"))
        await send(message)

    return sending
