"""Messages of robots and test benches as channels: each number in a message is one.

A channel is called by its topic and the path of the field, such as ``/imu.acceleration.x``. Its
times are those at which messages were logged.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


class Messages:
    """Collects the fields of messages, in the order in which they appear; ``name`` is the file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: dict[str, _Field] = {}

    def leave_out(self, topic: str, why: str) -> None:
        """Remember a topic whose messages cannot be read."""
        self._fields[topic] = _Field(why)

    def add(self, topic: str, nanoseconds: int, message: Any) -> None:
        """Add the numbers of a message that was logged at this time since 1970."""
        time = round(nanoseconds / 1000)
        for path, kind, value in flatten(topic, message):
            found = self._fields.get(path)
            if found is None:
                if len(self._fields) >= MOST:
                    raise InputError(
                        f"{self._name} has more than {MOST} channels; the file is damaged"
                    )
                found = self._fields[path] = _Field(kind)
            if kind not in (NUMBER, CODE):
                found.kind = kind
                continue
            found.times.append(time)
            found.values.append(value)

    def to_table(self, asked: Asked, *, shown: str, rows: int | None) -> Table:
        """Return the raster of all fields."""
        name, fields = self._name, self._fields
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
            samples, asked, shown=shown, name=name, is_absolute=begin > DATED, rows=rows
        )


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


def ros_decoder(kind: str, definition: str | None, *, version: int, is_idl: bool = False) -> Decode:
    """Return what turns the bytes of ROS messages of a type into a message.

    ``definition`` is the text that defines the type; without one it must be a type of ROS itself.
    Raise KeyError for one that is not.
    """
    typesys = need("rosbags.typesys", what="ROS messages need")
    kind = kind if "/msg/" in kind else kind.replace("/", "/msg/", 1)
    usual = typesys.get_typestore(typesys.Stores.LATEST)
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    if definition is None:
        if kind not in usual.fielddefs:
            raise KeyError(kind)
        store = usual
    elif is_idl:
        store.register(_clocks(usual) | typesys.get_types_from_idl(definition))
    else:
        store.register(_clocks(usual) | typesys.get_types_from_msg(definition, kind))
    decode = store.deserialize_ros1 if version == 1 else store.deserialize_cdr

    def read(data: bytes) -> Any:
        return decode(data, kind)

    return read


def _clocks(store: Any) -> dict[str, Any]:
    """Return the types that message definitions use without defining them."""
    names = [f"builtin_interfaces/msg/{one}" for one in CLOCKS]
    return {name: store.fielddefs[name] for name in names}
