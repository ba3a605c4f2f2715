"""What CAN frames mean, from DBC files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axonad.data.readers.can_bits import last_byte
from axonad.data.readers.can_frames import EXTENDED, IDENTIFIER
from axonad.data.readers.samples import CODE, NUMBER
from axonad.errors import FileError, InputError
from axonad.extras import need

FLOATS = (16, 32, 64)  # bits of a floating-point signal


@dataclass(frozen=True)
class Signal:
    """Where a signal is in its message, and how its bits become a number."""

    name: str  # in the database
    channel: str  # the name of its channel: with the message's where others have the same
    unit: str
    start: int
    length: int
    is_little: bool
    is_signed: bool
    is_float: bool
    scale: float
    offset: float
    kind: str
    selector: Signal | None = None  # the multiplexer that says which frames have it
    selected: tuple[int, ...] = ()  # its values in those frames

    @property
    def last_byte(self) -> int:
        """Number of the last byte."""
        return last_byte(start=self.start, length=self.length, is_little=self.is_little)


@dataclass(frozen=True)
class Message:
    """A message and its signals; one of J1939 stands for all frames of its parameter group."""

    name: str
    key: int
    is_j1939: bool
    signals: tuple[Signal, ...]
    size: int = 8  # bytes


@dataclass(frozen=True)
class CanDatabase:
    """The messages of all DBC files, by identifier or by parameter group (J1939)."""

    messages: tuple[Message, ...]


def parameter_group(identifier: int) -> int:
    """Return the parameter group number of a 29-bit identifier.

    >>> hex(parameter_group(0x0CF004FE)), hex(parameter_group(0x18EA21F9))
    ('0xf004', '0xea00')
    """
    group = (identifier >> 8) & 0x3FFFF
    return group if (group >> 8) & 0xFF >= 240 else group & 0x3FF00


def load_database(paths: Sequence[str], *, name: str) -> CanDatabase:
    """Return the messages of DBC files; ``name`` is the recording that needs them."""
    if not paths:
        raise InputError(
            f"{name} holds CAN frames; pass the DBC file that says what they mean with "
            "dbc=['bus.dbc'] (--dbc bus.dbc)"
        )
    cantools = need("cantools", what="DBC files need")
    found = [one for path in paths for one in _load(cantools, path)]
    seen = Counter(signal.name for message, _ in found for signal in message.signals)
    messages: dict[tuple[bool, int], Message] = {}
    for message, is_j1939 in found:
        made = _message(message, seen, is_j1939=is_j1939)
        messages.setdefault((made.is_j1939, made.key), made)
    return CanDatabase(tuple(messages.values()))


def _load(cantools: Any, path: str) -> list[tuple[Any, bool]]:
    """Return the messages of a file, each with whether it is a parameter group of J1939."""
    try:
        database = cantools.database.load_file(path, strict=False, cache_dir=None)
        messages = database.messages
    except (OSError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileError(f"{Path(path).name} cannot be read as DBC: {reason}") from None
    attributes = getattr(getattr(database, "dbc", None), "attributes", None) or {}
    protocol = attributes.get("ProtocolType")
    whole = protocol is not None and str(protocol.value).upper() == "J1939"
    return [(one, one.is_extended_frame and (whole or one.protocol == "j1939")) for one in messages]


def _message(message: Any, seen: Counter[str], *, is_j1939: bool) -> Message:
    identifier = message.frame_id & IDENTIFIER
    key = identifier | (EXTENDED if message.is_extended_frame else 0)
    known = {one.name: one for one in message.signals}
    signals = [
        _signal(one, known, message.name, seen)
        for one in message.signals
        if 1 <= one.length <= 64 and (not one.is_float or one.length in FLOATS)
    ]
    number = parameter_group(identifier) if is_j1939 else key
    return Message(message.name, number, is_j1939, tuple(signals), int(message.length or 0))


def _signal(one: Any, known: dict[str, Any], message: str, seen: Counter[str]) -> Signal:
    is_little = one.byte_order == "little_endian"
    scale, offset = float(one.scale), float(one.offset)
    unit = one.unit or ""
    is_plain = not unit and not one.is_float and (scale, offset) == (1.0, 0.0)
    selector = None
    if one.multiplexer_ids and one.multiplexer_signal in known:
        selector = _signal(known[one.multiplexer_signal], known, message, seen)
    return Signal(
        name=one.name,
        channel=one.name if seen[one.name] == 1 else f"{message}.{one.name}",
        unit=unit, start=one.start, length=one.length, is_little=is_little,
        is_signed=one.is_signed, is_float=one.is_float, scale=scale, offset=offset,
        kind=CODE if is_plain else NUMBER, selector=selector,
        selected=tuple(one.multiplexer_ids or ()),
    )  # fmt: skip
