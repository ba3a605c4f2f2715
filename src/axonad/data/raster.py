"""The raster of a recording: its interval, and for how long a channel's value is held on it.

Times are whole microseconds, so that every format gives the same rows. Rows lie at multiples of the
interval from time zero, so that files and live data that begin at any moment have the same ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ConfigError

Micros = NDArray[np.int64]

SECOND = 1_000_000  # microseconds
FASTEST = 10_000  # microseconds; a faster raster is used only if asked for
SLOWEST = 3600 * SECOND  # microseconds between rows at most
HOLD = 10  # native intervals for which a value is held, as many as make a gap in a table
LONGEST_HOLD = 10_000  # rows
UNITS = {"us": 1, "µs": 1, "ms": 1000, "s": SECOND, "min": 60 * SECOND}
DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Zµ]+)\s*")


def parse_duration(name: str, text: str) -> int:
    """Return a duration such as ``"100ms"`` in microseconds.

    >>> parse_duration("max_age", "1.5 s")
    1500000
    """
    found = DURATION.fullmatch(text)
    size = UNITS.get(found[2]) if found else None
    if found is None or size is None:
        raise ConfigError(f"{name} must be a duration such as 500ms, 2s or 1min, got {text!r}")
    return _checked(name, text, float(found[1]) * size)


def parse_rate(text: str) -> int:
    """Return the interval of a raster in microseconds, from its rate or from the interval.

    >>> parse_rate("10Hz"), parse_rate("100 ms"), parse_rate("1 kHz")
    (100000, 100000, 1000)
    """
    found = DURATION.fullmatch(text)
    hertz = {"hz": 1.0, "khz": 1000.0}.get(found[2].lower()) if found else None
    if found is not None and hertz is not None:
        rate = float(found[1]) * hertz
        return _checked("rate", text, SECOND / rate if rate > 0 else 0.0)
    if found is None or found[2] not in UNITS:
        raise ConfigError(f"rate must be one such as 10Hz or an interval such as 100ms, got {text}")
    return _checked("rate", text, float(found[1]) * UNITS[found[2]])


def _checked(name: str, text: str, micros: float) -> int:
    if not 0.5 <= micros <= SLOWEST:
        raise ConfigError(f"{name} must be between 1 µs (1 MHz) and one hour, got {text}")
    return round(micros)


def describe_interval(interval: float) -> str:
    """Return an interval in microseconds as people say it.

    >>> describe_interval(100_000), describe_interval(2_000_000), describe_interval(9_300)
    ('10 Hz', '0.5 Hz', '107.5 Hz')
    """
    return f"{SECOND / interval:.4g} Hz"


def to_micros(seconds: NDArray[Any]) -> Micros:
    """Return seconds as whole microseconds; they must be finite."""
    return np.rint(np.asarray(seconds, dtype=np.float64) * SECOND).astype(np.int64)


def native_interval(times: Micros) -> float | None:
    """Return the median step between successive samples; None if time does not move forward."""
    steps = np.diff(times)
    if (steps < 0).any():
        steps = np.diff(np.sort(times))
    forward = steps[steps > 0]
    return float(np.median(forward)) if len(forward) else None


def choose_interval(native: Iterable[float | None]) -> int:
    """Return the interval of the fastest channel, rounded to 1, 2 or 5 times a power of ten.

    It is at least ``FASTEST`` and at most ``SLOWEST``.

    >>> choose_interval([9_300.0, 1_000_000.0, None]), choose_interval([420.0]), choose_interval([])
    (10000, 10000, 1000000)
    """
    known = [interval for interval in native if interval is not None]
    fastest = min(known, default=float(SECOND))
    power = 10.0 ** math.floor(math.log10(fastest))
    steps = [step * power for step in (1.0, 2.0, 5.0, 10.0)]
    nearest = min(steps, key=lambda step: abs(math.log(step / fastest)))
    return min(max(round(nearest), FASTEST), SLOWEST)


def hold_age(native: float | None, interval: int) -> int:
    """Return for how many microseconds a channel's value is held on a raster.

    That is ``HOLD`` of its native intervals, but at least one row and at most ``LONGEST_HOLD``
    rows.

    >>> hold_age(1_000_000.0, 10_000), hold_age(2_000.0, 100_000), hold_age(None, 100_000)
    (10000000, 100000, 100000)
    """
    wanted = 0 if native is None else round(HOLD * native)
    return min(max(wanted, interval), LONGEST_HOLD * interval)
