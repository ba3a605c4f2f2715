"""Samples, rows and states as compact bytes, with a version byte in front."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from axonad.live.record import Course

SAMPLES, COURSE, STATE = b"S1", b"C1", b"J2"
OLD_STATE = b"J1"  # of release 0.2.0


def pack_samples(samples: Sequence[tuple[int, NDArray[np.float64]]]) -> bytes:
    """Return times and rows of values (NaN where a channel has none) as bytes."""
    times = struct.pack(f"<{len(samples)}q", *[time for time, _ in samples])
    values = b"".join([row.astype("<f8", copy=False).tobytes() for _, row in samples])
    return SAMPLES + len(samples).to_bytes(4, "little") + times + values


def unpack_samples(data: bytes, *, channels: int) -> list[tuple[int, NDArray[np.float64]]]:
    """Return what was packed; raise ValueError if it does not fit."""
    _check(data, SAMPLES)
    count = int.from_bytes(data[2:6], "little")
    if len(data) != 6 + 8 * count * (1 + channels):
        raise ValueError(f"{len(data)} bytes are not {count} samples of {channels} channels")
    times = np.frombuffer(data, dtype="<i8", count=count, offset=6)
    values = np.frombuffer(data, dtype="<f8", offset=6 + 8 * count).reshape(count, channels)
    return [(int(time), row.copy()) for time, row in zip(times, values, strict=True)]


def pack_course(course: Course) -> bytes:
    """Return a course as compressed bytes; columns of slow channels become small."""
    rows, channels = course.values.shape
    head: bytes = rows.to_bytes(4, "little") + channels.to_bytes(4, "little")
    body: bytes = b"".join(
        [
            np.diff(course.times, prepend=np.int64(0)).astype("<i8").tobytes(),
            np.ascontiguousarray(course.values.T, dtype="<f4").tobytes(),
            course.scores.astype("<f4").tobytes(),
            course.alarms.astype("u1").tobytes(),
        ]
    )
    return COURSE + head + zlib.compress(body, 1)


def unpack_course(data: bytes) -> Course:
    """Return what was packed; raise ValueError if it does not fit."""
    _check(data, COURSE)
    rows, channels = int.from_bytes(data[2:6], "little"), int.from_bytes(data[6:10], "little")
    try:
        body = zlib.decompress(data[10:])
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(body) != rows * (8 + 4 * channels + 5):
        raise ValueError(f"{len(body)} bytes are not {rows} rows of {channels} channels")
    times = np.cumsum(np.frombuffer(body, dtype="<i8", count=rows))
    at = 8 * rows
    values = np.frombuffer(body, dtype="<f4", count=rows * channels, offset=at)
    at += 4 * rows * channels
    scores = np.frombuffer(body, dtype="<f4", count=rows, offset=at)
    alarms = np.frombuffer(body, dtype="u1", offset=at + 4 * rows)
    return Course(times, values.reshape(channels, rows).T.copy(), scores, alarms.astype(bool))


def pack_state(state: dict[str, Any]) -> bytes:
    """Return JSON values as compressed bytes; numbers keep all their digits."""
    return STATE + zlib.compress(orjson.dumps(state), 1)


def unpack_state(data: bytes) -> dict[str, Any]:
    """Return what was packed; raise ValueError if it does not fit."""
    if data[:2] == OLD_STATE:
        raise ValueError("it was saved by axonad 0.2, whose states no later version reads")
    _check(data, STATE)
    try:
        state = orjson.loads(zlib.decompress(data[2:]))
    except (zlib.error, orjson.JSONDecodeError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(state, dict):
        raise ValueError("a state must be an object")
    return state


def _check(data: bytes, mark: bytes) -> None:
    if data[:2] != mark:
        raise ValueError(f"it begins with {data[:2]!r}, not with {mark!r}")
