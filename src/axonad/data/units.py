"""Units of channels: the same in training and in scoring."""

from __future__ import annotations

from collections.abc import Mapping

from axonad.data.series import Series
from axonad.errors import ChannelError

# Spellings of one unit, as files of different tools have them.
SAME = {
    "°C": "degC", "C": "degC", "°F": "degF", "°": "deg", "º": "deg", "°/s": "deg/s", "kph": "km/h",
    "kmh": "km/h", "m/s²": "m/s^2", "m/s2": "m/s^2", "m/s/s": "m/s^2", "1/min": "rpm",
    "U/min": "rpm", "min^-1": "rpm", "sec": "s",
}  # fmt: skip


def units_of(series: object) -> dict[str, str]:
    """Return the known units of a series by channel; none of what is not a series."""
    if not isinstance(series, Series) or series.units is None:
        return {}
    known = zip(series.channels, series.units, strict=True)
    return {name: unit for name, unit in known if unit}


def check_units(known: Mapping[str, str], series: object) -> None:
    """Raise an error if a channel has another unit than in training; unknown units are not checked.

    >>> import numpy as np
    >>> drive = Series(values=np.zeros((1, 1)), channels=("speed",), units=("kph",), name="a.mf4")
    >>> check_units({"speed": "km/h"}, drive)
    """
    for name, unit in units_of(series).items():
        before = known.get(name)
        if before is not None and normalised(before) != normalised(unit):
            where = getattr(series, "name", "series")
            raise ChannelError(
                f"{where}: {name} was {before} in training, is {unit} here; convert it, or fit on "
                "data with this unit"
            )


def normalised(unit: str) -> str:
    """Return one spelling of a unit.

    >>> normalised(" m/s² "), normalised("m/s^2")
    ('m/s^2', 'm/s^2')
    """
    plain = unit.strip().strip("[]").replace(" ", "")
    return SAME.get(plain, plain)
