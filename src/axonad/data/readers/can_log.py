"""Logs of CAN frames: BLF, ASC and candump."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from axonad.data.raster import SECOND, to_micros
from axonad.data.readers.asked import Asked
from axonad.data.readers.can_database import CanDatabase, load_database, parameter_group
from axonad.data.readers.can_frames import EXTENDED, IDENTIFIER, Frames
from axonad.data.readers.can_signals import decode_frames
from axonad.data.readers.can_transport import is_transport, long_groups
from axonad.data.readers.recording import to_table
from axonad.data.readers.table import Table
from axonad.errors import InputError
from axonad.extras import need

WIDTHS = (8, 64)  # bytes of a frame: CAN, CAN FD
DATED = 10 * 365 * 86_400  # seconds; times after 1980 are dates


def read_blf(origin: Path, **asked: Any) -> Table:
    """Return the raster of a BLF file."""
    return _read("BLFReader", origin, **asked)


def read_asc(origin: Path, **asked: Any) -> Table:
    """Return the raster of an ASC file."""
    return _read("ASCReader", origin, relative_timestamp=False, **asked)


def read_candump(origin: Path, **asked: Any) -> Table:
    """Return the raster of a log that ``candump -l`` wrote."""
    return _read("CanutilsLogReader", origin, **asked)


def _read(
    reader: str,
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
    **options: Any,
) -> Table:
    can = need("can", what="CAN logs need")
    database = load_database(asked.dbc, name=name)
    with getattr(can.io, reader)(origin, **options) as messages:
        frames, count = collect_frames(messages, database)
        frames = replace(frames, times=frames.times + _zone(getattr(messages, "start_time", 0.0)))
    if not count:
        raise InputError(f"{name} holds no CAN frames")
    samples = decode_frames(frames, database, asked, name=name)
    is_absolute = bool(len(frames)) and int(frames.times.min()) > DATED * SECOND
    return to_table(samples, asked, shown=shown_path, name=name, is_absolute=is_absolute, rows=rows)


def collect_frames(messages: Iterable[Any], database: CanDatabase) -> tuple[Frames, int]:
    """Return the frames that the database knows, and the number of all data frames."""
    plain = {one.key for one in database.messages if not one.is_j1939}
    groups = {one.key for one in database.messages if one.is_j1939}
    has_long = bool(long_groups(database))
    known: dict[int, bool] = {}
    buses: dict[Any, int] = {}
    times, ids, where, payloads = array("d"), array("L"), array("q"), []
    count = 0
    for message in messages:
        if message.is_error_frame or message.is_remote_frame:
            continue
        count += 1
        number = message.arbitration_id & IDENTIFIER
        number |= EXTENDED if message.is_extended_id else 0
        if number not in known:
            group = parameter_group(number & IDENTIFIER) if number & EXTENDED else -1
            known[number] = number in plain or group in groups
            if has_long and number & EXTENDED and is_transport(number & IDENTIFIER):
                known[number] = True
        if known[number]:
            times.append(message.timestamp)
            ids.append(number)
            where.append(_bus(message.channel, buses))
            payloads.append(bytes(message.data[:64]))
    return _frames(times, ids, where, payloads), count


def _zone(start: float) -> int:
    """Return what makes the start of a log, read as local time, that of UTC, in microseconds.

    An ASC file has a date without a time zone; it must not depend on where it is read.
    """
    if start < DATED:
        return 0
    local = datetime.fromtimestamp(start)
    return round((local.replace(tzinfo=UTC).timestamp() - start) * SECOND)


def _bus(channel: Any, buses: dict[Any, int]) -> int:
    """Return the number of a bus: its own, or one in the order in which names appear."""
    if isinstance(channel, int):
        return channel
    digits = "".join(c for c in str(channel) if c.isdigit())
    return buses.setdefault(channel, int(digits[:6]) if digits else len(buses))


def _frames(
    times: array[float], ids: array[int], where: array[int], payloads: list[bytes]
) -> Frames:
    sizes = np.array([len(payload) for payload in payloads], np.int64)
    width = WIDTHS[0] if not len(sizes) or sizes.max() <= WIDTHS[0] else WIDTHS[1]
    joined = b"".join(payload.ljust(width, b"\0") for payload in payloads)
    data = np.frombuffer(joined, np.uint8).reshape(len(payloads), width)
    seconds = np.array(times, np.float64)
    sound = np.isfinite(seconds)
    frames = Frames(
        to_micros(np.where(sound, seconds, 0.0)),
        np.array(ids, np.uint32), np.array(where, np.int64), data, sizes,
    )  # fmt: skip
    return frames if sound.all() else frames.select(sound)
