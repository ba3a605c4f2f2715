"""MCAP files with JSON or ROS messages: each number in a message is a channel.

A channel is called by its topic and the path of the field, such as ``/imu.acceleration.x``. Its
times are those at which messages were logged.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from axonad.data.raster import SECOND
from axonad.data.readers.asked import Asked
from axonad.data.readers.recording import to_table
from axonad.data.readers.samples import CODE, NUMBER, TEXT, Choice, Samples
from axonad.data.readers.table import Table
from axonad.errors import InputError
from axonad.extras import need

DEEPEST = 8  # records in records
MOST = 20_000  # channels
COUNTER = ".header.seq"  # of ROS 1: counts messages
ARRAYS = "arrays"
TIMES = "times"
CLOCKS = ("Time", "Duration")  # types of ROS that hold seconds and nanoseconds
DATED = 10 * 365 * 86_400 * SECOND  # microseconds; times after 1980 are dates

Decode = Callable[[bytes], Any]


@dataclass
class _Field:
    """The samples of one field of the messages of a topic."""

    kind: str
    times: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))


def read_mcap(
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the raster of an MCAP file."""
    reader = need("mcap.reader", what="MCAP files need")
    with origin.open("rb") as file:
        fields = _collect(reader.make_reader(file, validate_crcs=True), name)
    if not fields:
        raise InputError(f"{name} holds no messages")
    names = asked.renamed(fields, name=name)
    kinds = {one: found.kind for one, found in zip(names, fields.values(), strict=True)}
    choice = Choice(asked, kinds, name=name)
    samples = []
    for one, found in zip(names, fields.values(), strict=True):
        why = choice.why_not(one)
        times = np.array(found.times, np.int64)
        values = np.empty(0) if why else np.array(found.values, np.float64)
        samples.append(Samples(one, "", times, values, why))
    begin = min((int(one.times.min()) for one in samples if len(one.times)), default=0)
    return to_table(
        samples, asked, shown=shown_path, name=name, is_absolute=begin > DATED, rows=rows
    )


def _collect(reader: Any, name: str) -> dict[str, _Field]:
    """Return the fields of all messages by name, in the order in which they appear."""
    fields: dict[str, _Field] = {}
    decoders: dict[int, Decode | None] = {}
    for schema, channel, message in reader.iter_messages():
        if channel.id not in decoders:
            decoders[channel.id] = _decoder(schema, channel)
            if decoders[channel.id] is None:
                kind = f"messages in {channel.message_encoding or 'an unknown encoding'}"
                fields[channel.topic] = _Field(kind)
        decode = decoders[channel.id]
        if decode is None:
            continue
        time = round(message.log_time / 1000)
        for path, kind, value in flatten(channel.topic, decode(message.data)):
            found = fields.get(path)
            if found is None:
                if len(fields) >= MOST:
                    raise InputError(f"{name} has more than {MOST} channels; the file is damaged")
                found = fields[path] = _Field(kind)
            if kind not in (NUMBER, CODE):
                found.kind = kind
                continue
            found.times.append(time)
            found.values.append(value)
    return fields


def flatten(path: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str, float]]:
    """Yield name, kind and number of each field of a message.

    >>> list(flatten("/a", {"x": 1, "on": True, "name": "b", "none": None}))
    [('/a.x', 'number', 1.0), ('/a.on', 'integer code', 1.0), ('/a.name', 'text', nan)]
    """
    if isinstance(value, bool):
        yield path, CODE, float(value)
    elif isinstance(value, int | float):
        yield path, CODE if path.endswith(COUNTER) else NUMBER, _to_float(value)
    elif isinstance(value, str):
        yield path, TEXT, np.nan
    elif value is None:
        return
    elif isinstance(value, list | tuple | np.ndarray):
        yield path, ARRAYS, np.nan
    elif depth < DEEPEST:
        entries = value if isinstance(value, dict) else _entries(value)
        if entries is None:
            yield path, TIMES, np.nan
            return
        for key, inner in entries.items():
            yield from flatten(f"{path}.{key}", inner, depth + 1)


def _to_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of JSON may have any length
        return np.nan


def _entries(message: Any) -> dict[str, Any] | None:
    """Return the fields of a ROS message; None for one that holds a time."""
    kind = str(getattr(message, "__msgtype__", ""))
    if kind.rpartition("/")[2] in CLOCKS:
        return None
    names = getattr(message, "__dataclass_fields__", {})
    return {name: getattr(message, name) for name in names if not name.startswith("__")}


def _decoder(schema: Any, channel: Any) -> Decode | None:
    """Return what turns the bytes of a topic's messages into a message; None if nothing does."""
    encoding = channel.message_encoding
    if encoding == "json":
        return json.loads
    if schema is None or (encoding, schema.encoding) not in (
        ("ros1", "ros1msg"),
        ("cdr", "ros2msg"),
    ):
        return None
    typesys = need("rosbags.typesys", what="ROS messages in MCAP files need")
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    kind = schema.name if "/msg/" in schema.name else schema.name.replace("/", "/msg/", 1)
    store.register(_known(typesys) | typesys.get_types_from_msg(schema.data.decode(), kind))
    decode = store.deserialize_ros1 if encoding == "ros1" else store.deserialize_cdr

    def read(data: bytes) -> Any:
        return decode(data, kind)

    return read


def _known(typesys: Any) -> dict[str, Any]:
    """Return the types that message definitions use without defining them."""
    store = typesys.get_typestore(typesys.Stores.LATEST)
    return {
        f"builtin_interfaces/msg/{one}": store.fielddefs[f"builtin_interfaces/msg/{one}"]
        for one in CLOCKS
    }
