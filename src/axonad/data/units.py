"""Units of channels: the same in training and in scoring.

A :class:`~axonad.data.series.Series` has ``units``. A pandas frame carries them in its attributes,
``frame.attrs["units"] = {"speed": "km/h"}``. Units that are not known are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axonad.data.frames import frame_units
from axonad.data.series import Series
from axonad.errors import ChannelError

# Spellings of one unit, as files of different tools have them.
SAME = {
    "°C": "degC", "C": "degC", "°F": "degF", "°": "deg", "º": "deg", "°/s": "deg/s", "kph": "km/h",
    "kmh": "km/h", "m/s²": "m/s^2", "m/s2": "m/s^2", "m/s/s": "m/s^2", "1/min": "rpm",
    "U/min": "rpm", "min^-1": "rpm", "sec": "s",
}  # fmt: skip


def units_of(X: Any) -> dict[str, str]:
    """Return the known units by channel of a series or a frame; none of anything else."""
    if isinstance(X, Series):
        known = zip(X.channels, X.units or (), strict=False)
        return {name: unit for name, unit in known if unit}
    return frame_units(X)


def common_units(recordings: Sequence[Any]) -> dict[str, str]:
    """Return the units of all recordings; raise an error if two have a channel in different ones.

    >>> import numpy as np
    >>> drive = Series(values=np.zeros((1, 1)), channels=("speed",), units=("km/h",))
    >>> common_units([np.zeros((2, 1)), drive])
    {'speed': 'km/h'}
    """
    found: dict[str, str] = {}
    for number, recording in enumerate(recordings, 1):
        own = units_of(recording)
        _compare(found, own, _name(recording, f"recording {number}"), "in the others")
        found = own | found
    return found


def check_units(known: Mapping[str, str], X: Any) -> None:
    """Raise an error if a channel has another unit than in training; unknown units are not checked.

    >>> import numpy as np
    >>> drive = Series(values=np.zeros((1, 1)), channels=("speed",), units=("kph",), name="a.mf4")
    >>> check_units({"speed": "km/h"}, drive)
    """
    if known:
        _compare(known, units_of(X), _name(X, "X"), "in training")


def _compare(known: Mapping[str, str], units: Mapping[str, str], where: str, before: str) -> None:
    for name, unit in units.items():
        other = known.get(name)
        if other is not None and normalised(other) != normalised(unit):
            raise ChannelError(
                f"{where}: {name} was {other} {before}, is {unit} here; convert it, or fit on "
                "data with this unit"
            )


def _name(X: Any, otherwise: str) -> str:
    return X.name if isinstance(X, Series) and X.name != "series" else otherwise


def normalised(unit: str) -> str:
    """Return one spelling of a unit.

    >>> normalised(" m/s² "), normalised("m/s^2")
    ('m/s^2', 'm/s^2')
    """
    plain = unit.strip().strip("[]").replace(" ", "")
    return SAME.get(plain, plain)
