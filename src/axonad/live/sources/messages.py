"""Samples from the bytes of a message. Whatever comes in, it is samples or one InputError.

A message is JSON, in one of these forms; a list of objects is a batch, and so are objects on lines
of their own (NDJSON)::

    {"vehicle": "car 1", "time": 1784505600.5, "speed": 12.5, "yaw_rate": 0.1}
    {"vehicle": "car 1", "time": "2026-07-20T00:00:00.5Z", "values": {"speed": 12.5}}
    {"vehicle": "car 1", "times": [1784505600, 1784505601], "values": {"speed": [12.5, 12.6]}}

Where the topic names the vehicle, the message need not. Where it names the channel too, a message
is a number or ``{"value": 12.5, "time": 1784505600.5}``, or a list of those.

``"values": {}`` says only what time it is for the vehicle: no older sample will come, beyond the
allowed lateness, so that rows until then are complete. It ends a stream, or keeps rows coming while
channels are silent that are sent when they change.

A time is a number of seconds since 1970, or ISO 8601 text; text without a zone is UTC. A number
that looks like milliseconds or finer is refused, never guessed. Without a time, or with null, the
time of arrival counts. A value is a number; true is 1 and false is 0; null, NaN and Infinity are
missing (NaN). Anything else is refused, and with it the whole message: nothing of it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from axonad.errors import InputError, suggest
from axonad.live.sample import MAX_NAME, Sample
from axonad.live.sources.json_values import (
    check_channels,
    check_name,
    check_vehicle,
    load,
    shown,
    to_micros,
    to_number,
)

MAX_CHANNELS = 2_000  # of a sample
MAX_SAMPLES = 100_000  # of a message
MAX_VALUES = 2_000_000  # of a message in columns
REMEMBERED = 64  # channels of a message at most whose names are checked once only
ONLY_FLOAT = {float}
FORMS = "an object with vehicle, time and values, or a list of such objects"


def parse(data: bytes, *, arrival: int, vehicle: str = "") -> list[Sample]:
    """Return the samples of a message: one object, a list, or objects on lines of their own.

    ``arrival`` is the time in microseconds for samples that have none, ``vehicle`` the name that
    the topic says.

    >>> parse(b'{"vehicle": "car 1", "time": 2.5, "speed": 12}', arrival=0)
    [Sample(vehicle='car 1', time=2500000, values={'speed': 12.0})]
    """
    try:
        document = load(data)
    except InputError:
        if not _begins_with_a_line(data):
            raise
        return parse_lines(data, arrival=arrival, vehicle=vehicle)
    return _samples(document, arrival, vehicle)


def parse_lines(data: bytes, *, arrival: int, vehicle: str = "") -> list[Sample]:
    """Return the samples of lines with an object each; blank lines count, but say nothing."""
    if data.count(b"\n") > MAX_SAMPLES:
        raise InputError(f"a message has at most {MAX_SAMPLES:,} lines; send several messages")
    found: list[Sample] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                found += _samples(load(line), arrival, vehicle)
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
            if len(found) > MAX_SAMPLES:
                _refuse_size(len(found))
    if not found:
        raise InputError("the message is empty; send lines with an object each")
    return found


def parse_value(data: bytes, *, vehicle: str, channel: str, arrival: int) -> list[Sample]:
    """Return the samples of one channel: of a number, ``{"value": ..., "time": ...}``, or a list.

    >>> parse_value(b"12.5", vehicle="car 1", channel="speed", arrival=7)
    [Sample(vehicle='car 1', time=7, values={'speed': 12.5})]
    """
    check_name("the vehicle of the topic", vehicle)
    check_name("the channel of the topic", channel)

    def one(item: Any) -> Sample:
        if not isinstance(item, dict):
            return Sample(vehicle, arrival, {channel: to_number(channel, item)})
        if "value" not in item or len(item) > 1 + ("time" in item):
            raise InputError('expected a number, or {"value": 12.5, "time": 1784505600.5}')
        time = to_micros(item.get("time"), arrival)
        return Sample(vehicle, time, {channel: to_number(channel, item["value"])})

    document = load(data)
    return _each(document, one) if isinstance(document, list) else [one(document)]


def _samples(document: Any, arrival: int, vehicle: str) -> list[Sample]:
    if type(document) is dict:
        if "times" in document:
            return _columns(document, vehicle)
        return [_sample(document, arrival, vehicle)]
    if type(document) is not list:
        raise InputError(f"expected {FORMS}, got {shown(document)}")
    if any(type(item) is dict and "times" in item for item in document):
        raise InputError("an object with times cannot be part of a list; send it on its own")
    return _each(document, lambda item: _sample(item, arrival, vehicle))


def _each(items: list[Any], one: Callable[[Any], Sample]) -> list[Sample]:
    if not items:
        raise InputError("the list is empty; send at least one sample")
    if len(items) > MAX_SAMPLES:
        _refuse_size(len(items))
    found = []
    for item in items:
        try:
            found.append(one(item))
        except InputError as error:
            raise InputError(f"item {len(found) + 1} of {len(items)}: {error}") from None
    return found


def _sample(item: Any, arrival: int, vehicle: str) -> Sample:
    """Return the sample of one object; the object's own dictionary becomes the values."""
    if type(item) is not dict:
        raise InputError(f"expected {FORMS}, got {shown(item)}")
    name = _vehicle(item, vehicle)
    time = to_micros(item.pop("time", None), arrival)
    values = item
    if "values" in item:
        values = _values(item)
        if not values:
            return Sample(name, time, {})
    if not values or len(values) > MAX_CHANNELS:
        raise InputError(
            f"a sample must have values of 1 to {MAX_CHANNELS:,} channels, got {len(values)}; to "
            'say only what time it is, send "values": {}'
        )
    _check_channels(values)
    if set(map(type, values.values())) != ONLY_FLOAT:
        for channel, value in values.items():
            values[channel] = to_number(channel, value)
    return Sample(name, time, values)


def _columns(item: dict[str, Any], vehicle: str) -> list[Sample]:
    """Return the samples of an object with a list of times and a list of values per channel."""
    name = _vehicle(item, vehicle)
    times = item.pop("times")
    if type(times) is not list or not times:
        raise InputError(f"times must be a list with at least one time, got {shown(times)}")
    if "values" not in item:
        raise InputError("an object with times needs values, with a list for each channel")
    columns = _values(item)
    if len(times) > MAX_SAMPLES or len(times) * len(columns) > MAX_VALUES:
        _refuse_size(len(times))
    if not columns or len(columns) > MAX_CHANNELS:
        raise InputError(f"values must have 1 to {MAX_CHANNELS:,} channels, got {len(columns)}")
    _check_channels(columns)
    for channel, column in columns.items():
        if type(column) is not list or len(column) != len(times):
            size = f"{len(column)}" if type(column) is list else shown(column)
            raise InputError(
                f"values of {channel!r} must be a list as long as times ({len(times)}), got {size}"
            )
        columns[channel] = [to_number(channel, value) for value in column]
    micros: list[int] = []
    for time in times:
        if time is None:
            raise InputError(f"time {len(micros) + 1} of {len(times)} is missing")
        micros.append(to_micros(time, 0))
    rows = zip(*columns.values(), strict=True)
    return [
        Sample(name, time, dict(zip(columns, row, strict=True)))
        for time, row in zip(micros, rows, strict=True)
    ]


def _vehicle(item: dict[str, Any], vehicle: str) -> str:
    name = item.pop("vehicle", None)
    if name is None:
        if not vehicle:
            raise InputError('vehicle is missing; write for example "vehicle": "car 1"')
        name = vehicle
    elif type(name) is not str:
        raise InputError(f"vehicle must be text, got {shown(name)}")
    elif vehicle and name != vehicle:
        raise InputError(f"vehicle is {shown(name)}, but the topic says {shown(vehicle)}")
    check_vehicle(name)
    return str(name)


def _check_channels(values: dict[str, Any]) -> None:
    """Check the names; those of common messages are remembered, huge ones would fill memory."""
    names = tuple(values)
    (check_channels if len(names) <= REMEMBERED else check_channels.__wrapped__)(names)


def _values(item: dict[str, Any]) -> dict[str, Any]:
    values = item.pop("values")
    if type(values) is not dict:
        raise InputError(f"values must be an object of channels, got {shown(values)}")
    if item:
        key = next(iter(item))
        hint = suggest(key[:MAX_NAME], ["vehicle", "time", "times"])
        raise InputError(f"beside vehicle, time and values there is {shown(key)}{hint}")
    return values


def _begins_with_a_line(data: bytes) -> bool:
    """Return whether the first of several lines is JSON of its own."""
    first, newline, _ = data.lstrip().partition(b"\n")
    if not newline:
        return False
    try:
        return isinstance(load(first), dict)
    except InputError:
        return False


def _refuse_size(count: int) -> NoReturn:
    raise InputError(
        f"a message has at most {MAX_SAMPLES:,} samples and {MAX_VALUES:,} values, "
        f"got {count:,} samples; send several messages"
    )
