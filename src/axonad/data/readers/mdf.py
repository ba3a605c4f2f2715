"""MDF files, versions 3 and 4: measured channels, and CAN frames of bus logging."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import SECOND, Micros, to_micros
from axonad.data.readers.asked import Asked
from axonad.data.readers.can_database import load_database
from axonad.data.readers.can_frames import EXTENDED, IDENTIFIER, Frames, join
from axonad.data.readers.can_signals import decode_frames
from axonad.data.readers.recording import to_table
from axonad.data.readers.samples import CODE, NUMBER, TEXT, Choice, Samples
from axonad.data.readers.table import Table
from axonad.errors import InputError
from axonad.extras import need

FRAME = "CAN_DataFrame"
FIELDS = ("ID", "DataBytes", "DataLength", "DLC", "IDE", "BusChannel")
BUS = ("CAN_", "LIN_", "FLX_", "ETH_", "MOST_")  # groups of frames and errors of a bus
STATES = {3: (11, 12), 4: (7, 8, 10, 11)}  # conversions to text, by version
IDENTITY = {3: (65535,), 4: (0,)}
EARLIEST = 1980  # a file that says it is older has a clock that was not set


@dataclass(frozen=True)
class _Place:
    """A channel of a file: where it is, and what is known before its samples are read."""

    group: int
    index: int
    name: str
    unit: str
    kind: str


def read_mdf(
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the raster of an MDF file."""
    asammdf = need("asammdf", what="MDF files need")
    with asammdf.MDF(origin) as mdf:
        begin = _begin(mdf)
        version = 3 if str(mdf.version) < "4" else 4
        places = list(_places(mdf, version))
        buses = [i for i in range(len(mdf.groups)) if _holds_frames(mdf, i)]
        samples: list[Samples] = []
        if buses and (asked.dbc or not places):
            database = load_database(asked.dbc, name=name)
            frames = join([_frames(mdf, i, begin or 0) for i in buses])
            samples = decode_frames(frames, database, asked, name=name)
        elif places:
            samples = _read_places(mdf, places, asked, begin or 0, name=name)
    if not samples:
        raise InputError(f"{name} holds no samples")
    return to_table(
        samples, asked, shown=shown_path, name=name, is_absolute=begin is not None, rows=rows
    )


def _begin(mdf: Any) -> int | None:
    """Return when the recording began in microseconds since 1970; None if that is not known."""
    with suppress(Exception):  # a date that is none
        start: datetime = mdf.start_time
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
        if start.year >= EARLIEST:
            return round(start.timestamp() * SECOND)
    return None


# -- CAN frames ----------------------------------------------------------------------------------


def _holds_frames(mdf: Any, group: int) -> bool:
    found = mdf.groups[group]
    is_filled = found.channel_group.cycles_nr > 0
    return is_filled and any(one.name == f"{FRAME}.ID" for one in found.channels)


def _frames(mdf: Any, group: int, begin: int) -> Frames:
    """Return the frames of a group."""
    present = {one.name for one in mdf.groups[group].channels}
    fields = [one for one in FIELDS if f"{FRAME}.{one}" in present]
    signals = mdf.select(
        [(f"{FRAME}.{one}", group) for one in fields],
        ignore_value2text_conversions=True, copy_master=False,
    )  # fmt: skip
    found = {one: np.asarray(signal.samples) for one, signal in zip(fields, signals, strict=True)}
    if "DataBytes" not in found:
        raise InputError("its CAN frames have no bytes")
    ids, count = found["ID"].astype(np.uint32), len(found["ID"])
    data = _bytes(found["DataBytes"], count)
    sizes = found.get("DataLength", found.get("DLC", np.full(count, data.shape[1])))
    sizes = np.clip(sizes.astype(np.int64), 0, data.shape[1])
    extended = found.get("IDE", ids & np.uint32(EXTENDED))
    ids = (ids & np.uint32(IDENTIFIER)) | np.where(extended > 0, EXTENDED, 0).astype(np.uint32)
    buses = found.get("BusChannel", np.zeros(count)).astype(np.int64)
    signal = signals[0]
    times, sound = _micros(signal.timestamps, begin)
    frames = Frames(times, ids, buses, data, sizes)
    return frames if sound.all() else frames.select(sound)


def _bytes(data: NDArray[Any], count: int) -> NDArray[np.uint8]:
    """Return the bytes of frames as an array (frames, bytes)."""
    kind = data.dtype
    if kind == np.uint8 and data.ndim == 2 and len(data) == count:
        return data
    if kind.kind not in "SV" or data.size != count:
        raise InputError(f"its CAN frames hold {kind} and not bytes")
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).reshape(count, -1)


def _micros(seconds: NDArray[Any], begin: int) -> tuple[Micros, NDArray[np.bool_]]:
    """Return times, and which of them are sound; the others are 0."""
    sound = np.isfinite(seconds) & (np.abs(seconds) < 2**32)
    return to_micros(np.where(sound, seconds, 0.0)) + begin, sound


# -- measured channels ---------------------------------------------------------------------------


def _places(mdf: Any, version: int) -> list[_Place]:
    """Return the measured channels, without the times of their groups; no name is used twice."""
    found = []
    for number, group in enumerate(mdf.groups):
        if not group.channel_group.cycles_nr:
            continue
        master = mdf.masters_db.get(number)
        for index, one in enumerate(group.channels):
            if index != master and not one.name.startswith(BUS):
                unit, kind = _describe(one, version)
                found.append(_Place(number, index, one.name, unit, kind))
    seen = Counter(place.name for place in found)
    return [
        place
        if seen[place.name] == 1
        else _Place(place.group, place.index, f"{place.name}@{place.group}", place.unit, place.kind)
        for place in found
    ]


def _describe(channel: Any, version: int) -> tuple[str, str]:
    """Return the unit of a channel and what it holds."""
    conversion = channel.conversion
    unit = (channel.unit or getattr(conversion, "unit", "") or "").strip()
    if version == 4 and channel.data_type in (6, 7, 8, 9):
        return unit, TEXT
    if version == 4 and channel.data_type >= 10:
        return unit, "bytes or records"
    if version == 3 and channel.data_type in (7, 8):
        return unit, TEXT if channel.data_type == 7 else "bytes or records"
    kind = 0 if conversion is None else conversion.conversion_type
    is_float = channel.data_type in ((4, 5) if version == 4 else (2, 3, 11, 12, 15, 16))
    is_plain = conversion is None or kind in IDENTITY[version] or kind in STATES[version]
    return unit, CODE if is_plain and not unit and not is_float else NUMBER


def _read_places(
    mdf: Any, places: list[_Place], asked: Asked, begin: int, *, name: str
) -> list[Samples]:
    """Return the samples of the measured channels."""
    names = asked.renamed([place.name for place in places], name=name)
    kinds = {one: place.kind for one, place in zip(names, places, strict=True)}
    choice = Choice(asked, kinds, name=name)
    why = {one: choice.why_not(one) for one in names}
    wanted = [place for one, place in zip(names, places, strict=True) if not why[one]]
    signals = iter(
        mdf.select(
            [(None, place.group, place.index) for place in wanted],
            ignore_value2text_conversions=True, copy_master=False, validate=True,
        )
        if wanted
        else ()
    )  # fmt: skip
    shared: dict[int, tuple[Micros, NDArray[np.bool_]]] = {}  # times of a group
    samples = []
    for one, place in zip(names, places, strict=True):
        if why[one]:
            samples.append(Samples(one, place.unit, why=why[one]))
            continue
        signal = next(signals)
        key = id(signal.timestamps)
        if key not in shared:
            shared[key] = _micros(signal.timestamps, begin)
        samples.append(_to_samples(one, place.unit, signal, *shared[key]))
    return samples


def _to_samples(
    name: str, unit: str, signal: Any, times: Micros, sound: NDArray[np.bool_]
) -> Samples:
    values = np.asarray(signal.samples)
    if values.dtype.kind not in "biuf" or values.ndim != 1:
        why = TEXT if values.dtype.kind in "SU" else "arrays"
        return Samples(name, unit, times, why=why)
    values = values.astype(np.float64)
    if sound.all():  # channels of a group share the array of times, which is resampled once
        return Samples(name, unit, times, values)
    return Samples(name, unit, times[sound], values[sound])
