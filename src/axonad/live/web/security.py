"""Who is asking, and what they may do: keys for programs, signed sessions for browsers.

A session is a cookie with the id of a key, the time at which it ends, and a signature. Nothing is
kept in memory: it survives a restart, and ends when its key is revoked. Without keys, on loopback,
everybody may do everything; a session then only carries the token against forged forms.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axonad.errors import ConfigError
from axonad.live.config import Server
from axonad.live.web.keys import Key, Keys

COOKIE = "axonad_live"
LASTS = 7 * 86_400  # seconds
NOBODY = "-"  # in place of a key's id, without keys
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Caller:
    """Who sent a request. ``session`` is the cookie's value; empty with a key in the header."""

    name: str
    role: str
    session: str = ""

    @property
    def may_write(self) -> bool:
        """Whether the caller may change anything."""
        return self.role == "write"


class Door:
    """Recognises callers. Without ``keys`` everybody is let in."""

    def __init__(
        self, server: Server, keys: Keys | None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.keys = keys
        self._clock = clock
        self._own_secret = secrets.token_bytes(32)
        public = urlsplit(server.public_url).hostname or ""
        names = (*LOCAL_NAMES, *server.hosts, server.host, *([public] if public else []))
        self._hosts = {name.lower() for name in names}

    # -- callers -----------------------------------------------------------------------------

    def recognise(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> Caller | None:
        """Return who sent a request with these headers (lower case) and cookies."""
        session = cookies.get(COOKIE, "")
        owner = self._owner(session)
        if self.keys is None:
            return Caller("local", "write", session if owner is not None else "")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme:
            found = self.keys.find(token.strip()) if scheme.lower() == "bearer" else None
            return None if found is None else Caller(found.name, found.role)
        known = None if owner is None else self.keys.known(owner)
        return None if known is None else Caller(known.name, known.role, session)

    def log_in(self, token: str) -> str | None:
        """Return a session for the key that a person typed; None if it is not known."""
        key: Key | None = None if self.keys is None else self.keys.find(token.strip())
        return None if key is None else self.open_session(key.id)

    def open_session(self, key: str = NOBODY) -> str:
        """Return a new session of a key."""
        text = f"{key}.{int(self._clock()) + LASTS}.{secrets.token_urlsafe(12)}"
        return f"{text}.{self._sign('session', text)}"

    def _owner(self, session: str) -> str | None:
        """Return the id of the key of a valid session."""
        text, _, signature = session.rpartition(".")
        if not text or not _same(signature, self._sign("session", text)):
            return None
        key, ends, _ = text.split(".", 2)
        return key if self._clock() < int(ends) else None

    # -- forged requests ---------------------------------------------------------------------

    def form_token(self, session: str) -> str:
        """Return the token that the forms of a session carry."""
        return self._sign("form", session)

    def is_own_form(self, session: str, token: str) -> bool:
        """Whether a token belongs to a session."""
        return bool(session) and _same(token, self.form_token(session))

    def is_own_host(self, host: str) -> bool:
        """Whether the server is meant by a Host header; a page of another name may be a trick.

        An address is always fine: names can be made to point here, addresses cannot.
        """
        name = host_name(host)
        return name is not None and (name in self._hosts or _is_address(name))

    def _sign(self, purpose: str, text: str) -> str:
        secret = self._own_secret if self.keys is None else self.keys.secret
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return hmac.new(secret, message, hashlib.sha256).hexdigest()


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from our own page, or from no page at all."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or (
        "://" in origin and origin.split("://", 1)[1].lower() == headers.get("host", "").lower()
    )


def host_name(host: str) -> str | None:
    """Return the name in a Host header, lower case, without port; None if it is none.

    >>> host_name("Localhost:80"), host_name("[::1]:80"), host_name("a/b")
    ('localhost', '::1', None)
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    return name if name and parts.netloc == host and "@" not in host else None


def open_keys(server: Server) -> Keys | None:
    """Return the keys of a configuration; None without.

    Raise ``ConfigError`` if others could reach the server and there are no keys.
    """
    if server.keys_file:
        return Keys(Path(server.keys_file))
    if not is_loopback(server.host):
        raise ConfigError(
            f"host of [server] is {server.host!r}, which others can reach, and there are no keys; "
            "set keys_file and make a key with: axonad live-key add NAME"
        )
    return None


def cautions(server: Server) -> list[str]:
    """Return what a person should know about the safety of a configuration."""
    if not is_loopback(server.host) and not server.tls_cert:
        return [
            f"keys and data travel unencrypted to {server.host}; set tls_cert and tls_key of "
            "[server], or put a proxy with TLS in front"
        ]
    return []


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_cookies(header: str) -> dict[str, str]:
    """Return the cookies of a header by name."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, equals, value in pairs if equals}


def cookie_options(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the session's cookie."""
    return {
        "httponly": True,
        "samesite": "strict",
        "secure": scope.get("scheme") == "https",
        "max_age": LASTS,
        "path": "/",
    }


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
