"""Names and times in addresses and answers; names come from anybody and may contain anything."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, unquote

from axonad.errors import InputError
from axonad.live.record import Micros

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_path(name: str) -> str:
    """Return a name as one part of a path.

    >>> to_path("a/b <ü>")
    'a%2Fb%20%3C%C3%BC%3E'
    """
    return quote(name, safe="", errors="surrogatepass")


def from_path(part: str) -> str:
    """Return the name in a part of a path, which the server keeps as it was sent."""
    return checked(unquote(part, errors="replace"))


def checked(text: str) -> str:
    """Return a text to look for; raise ``InputError`` for one that no database can hold."""
    if "\0" in text:
        raise InputError("a name has no character NUL")
    return text


def to_iso(micros: Micros) -> str | None:
    """Return a time as text in UTC; None where no calendar reaches.

    >>> to_iso(1_500_000)
    '1970-01-01T00:00:01.500000Z'
    """
    moment = to_moment(micros)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_moment(micros: Micros) -> datetime | None:
    """Return a time as a datetime in UTC; None where no calendar reaches."""
    try:
        return EPOCH + timedelta(microseconds=int(micros))
    except OverflowError:
        return None


def to_micros(moment: datetime) -> Micros:
    """Return a datetime in microseconds since 1970; one without a zone is in UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return (moment - EPOCH) // timedelta(microseconds=1)
    except OverflowError:
        raise InputError(f"{moment} is too far away; use a year from 1 to 9999") from None


def to_words(micros: Micros) -> str:
    """Return a time as people read it, in UTC.

    >>> to_words(1_500_000)
    '1970-01-01 00:00:01'
    """
    moment = to_moment(micros)
    return "?" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S")


def to_cursor(*parts: Any) -> str:
    """Return a place in a list as text that nobody needs to understand."""
    raw = json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def from_cursor(text: str, *types: type) -> tuple[Any, ...]:
    """Return the parts of a cursor; raise ``InputError`` if it is none of ours.

    >>> from_cursor(to_cursor(5, "x"), int, str)
    (5, 'x')
    """
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_")
        parts = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError):
        parts = None
    if (
        not isinstance(parts, list)
        or [type(part) for part in parts] != list(types)
        or any(isinstance(part, int) and abs(part) >= 2**63 for part in parts)
    ):
        raise InputError("after must be the next of the page before, as it was answered")
    return tuple(parts)
