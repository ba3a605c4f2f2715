"""What messages are made of: JSON, times, numbers and names, each checked with a sentence."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from axonad.data.time_text import parse_time
from axonad.errors import InputError
from axonad.live.sample import MAX_NAME

MAX_SECONDS = 10**11  # the year 5138; larger numbers are milliseconds of today's times, or finer
MAX_TIME_TEXT = 64  # characters
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
UNITS = (  # of numbers below a limit that are no seconds, and what to divide them by
    (MAX_SECONDS * 10**3, "milliseconds", "1000"),
    (MAX_SECONDS * 10**6, "microseconds", "1e6"),
    (math.inf, "nanoseconds", "1e9"),
)


def load(data: bytes) -> Any:
    """Return the content of JSON; NaN and Infinity, which many programs write, are NaN."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if b"NaN" not in data and b"Infinity" not in data:
            raise InputError(f"the message is not JSON: {error}") from None
    try:
        return json.loads(data.decode(), parse_constant=lambda name: math.nan, parse_float=_finite)
    except RecursionError:
        raise InputError("the message is not usable JSON: it is nested too deeply") from None
    except ValueError as error:  # not JSON, not UTF-8, or a number too long
        raise InputError(f"the message is not JSON: {error!s:.200}") from None


def to_micros(time: Any, arrival: int) -> int:
    """Return a time of a message in microseconds since 1970; None is the time of arrival.

    >>> to_micros("1970-01-01T00:00:01+00:00", 0), to_micros(1.5, 0)
    (1000000, 1500000)
    """
    kind = type(time)
    if (kind is float or kind is int) and 0 <= time < MAX_SECONDS:
        micros: int = round(time * 1_000_000)
        return micros
    if time is None:
        return arrival
    if kind is str:
        return _text_to_micros(time)
    if kind is not float and kind is not int:
        raise InputError(f"time must be seconds since 1970 or ISO 8601 text, got {shown(time)}")
    if isinstance(time, float) and math.isnan(time):
        raise InputError("time is NaN; leave it out to use the time of arrival")
    if time < 0:
        raise InputError(f"time must not lie before 1970, got {shown(time)}")
    unit, factor = next((unit, by) for limit, unit, by in UNITS if time <= limit)
    raise InputError(
        f"time must be in seconds since 1970, got {shown(time)}, which looks like {unit}; "
        f"divide it by {factor}"
    )


@lru_cache(maxsize=16_384)  # vehicles
def check_vehicle(name: str) -> None:
    """Raise InputError unless the name of a vehicle can be used."""
    check_name("vehicle", name)


@lru_cache(maxsize=1_024)
def check_channels(names: tuple[str, ...]) -> None:
    """Raise InputError unless all names of channels can be used."""
    for name in names:
        check_name("the name of a channel", name)


def check_name(what: str, name: str) -> None:
    """Raise InputError unless a name has 1 to 128 characters that can be printed."""
    if not name or len(name) > MAX_NAME:
        raise InputError(
            f"{what} must have 1 to {MAX_NAME} characters, got {len(name)}: {shown(name)}"
        )
    if not name.isprintable():
        raise InputError(f"{what} must not contain control characters, got {shown(name)}")


def to_number(channel: str, value: Any) -> float:
    """Return the value of a channel; null is NaN, true is 1, false is 0."""
    if value is None:
        return math.nan
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"the value of {channel!r} is too large a number") from None
    raise InputError(f"the value of {channel!r} must be a number or null, got {shown(value)}")


def _text_to_micros(text: str) -> int:
    try:
        if len(text) > MAX_TIME_TEXT:
            raise ValueError
        micros = (parse_time(text) - EPOCH) // MICROSECOND
    except (ValueError, OverflowError):
        raise InputError(
            f"time must be ISO 8601 such as 2026-07-20T08:15:00.5Z, got {shown(text)}"
        ) from None
    if not 0 <= micros < MAX_SECONDS * 1_000_000:
        raise InputError(f"time must lie between 1970 and 5138, got {shown(text)}")
    return micros


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text:.20} is too large a number")
    return number


def shown(value: Any) -> str:
    """Return a value for a message, shortened; containers by their kind, as they may be deep."""
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:40]!r}..."
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return f"{value!r:.40}"
