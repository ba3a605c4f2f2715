"""Names of vehicles, the times of their rows, and messages about them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from axonad.data.timing import to_second
from axonad.errors import InputError

LISTED = 5  # vehicles named in an error message

Vehicle = str | int


def read_times_of(times: Any, rows: Mapping[Vehicle, Any]) -> dict[Vehicle, float]:
    """Return the times of rows in seconds, by vehicle."""
    if times is None:
        return {}
    if not isinstance(times, Mapping):
        kind = type(times).__name__
        raise InputError(f"times must be a mapping from vehicles to times, got {kind}")
    found = {}
    for vehicle, time in times.items():
        if vehicle not in rows:
            raise InputError(f"times has vehicle {vehicle!r:.100}, which has no row")
        try:
            found[vehicle] = to_second(time)
        except InputError as error:
            raise InputError(f"vehicle {vehicle!r}: {error}") from None
    return found


def check_vehicle(vehicle: object) -> None:
    """Raise InputError unless the value can name a vehicle."""
    if isinstance(vehicle, bool) or not isinstance(vehicle, str | Integral):
        raise InputError(f"a vehicle must be a string or an integer, got {vehicle!r:.100}")


def list_refused(refused: Mapping[Vehicle, str]) -> str:
    """Return why rows of vehicles were refused, as one message."""
    listed = "; ".join(
        f"vehicle {vehicle!r}: {why}" for vehicle, why in list(refused.items())[:LISTED]
    )
    more = f"; and {len(refused) - LISTED} more" if len(refused) > LISTED else ""
    return listed + more
