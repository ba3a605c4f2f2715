"""Names of vehicles, and the times of rows as states hold them."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from axonad.errors import InputError

Vehicle = str | int


def check_vehicle(vehicle: object) -> None:
    """Raise InputError unless the value can name a vehicle."""
    if isinstance(vehicle, bool) or not isinstance(vehicle, str | Integral):
        raise InputError(f"a vehicle must be a string or an integer, got {vehicle!r:.100}")


def plain_time(time: Any) -> Any:
    """Return a time as JSON has it: a number, text, or None."""
    if time is None or type(time) is str:
        return time
    if type(time) is float:
        return time if math.isfinite(time) else None
    if isinstance(time, np.datetime64 | np.timedelta64):
        return str(time)
    if isinstance(time, np.generic):
        time = time.item()
    if isinstance(time, float) and not math.isfinite(time):
        return None
    return time if isinstance(time, int | float | str | None) else str(time)
