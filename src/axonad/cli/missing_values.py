"""What ``--fill`` and ``--max-hold`` do with missing values, for files read whole or in chunks."""

from __future__ import annotations

import warnings

from axonad.config import check_choice
from axonad.data.holding import HOLD_LIMIT, SeriesFiller
from axonad.data.series import Series
from axonad.errors import ConfigError, DataWarning


def make_filler(
    fill: str | None, max_hold: int | None, *, interval: float | None = None
) -> SeriesFiller | None:
    """Return what fills missing values; None if they are an error.

    ``interval`` is the model's sampling interval, by which gaps in time are judged.
    """
    if fill is None:
        if max_hold is not None:
            raise ConfigError("--max-hold needs --fill hold")
        return None
    check_choice("--fill", fill, ("hold",))
    return SeriesFiller(HOLD_LIMIT if max_hold is None else max_hold, interval=interval)


def held_for(filler: SeriesFiller | None) -> int:
    """Return in how many rows a missing value is held."""
    return 0 if filler is None else filler.limit


def fill_series(series: Series, filler: SeriesFiller | None) -> Series:
    """Return the series with missing values filled, and say how many."""
    if filler is None:
        return series
    filled = filler.fill(series)
    say_filled(series.name, filler)
    return filled


def say_filled(name: str, filler: SeriesFiller) -> None:
    """Warn of the values held and the rows refused."""
    count = filler.count
    if count.values or count.rows:
        held = f"{count.values} missing value{'s' if count.values != 1 else ''} held"
        rows = f"{count.rows} row{'s' if count.rows != 1 else ''} without usable values"
        warnings.warn(f"{name}: {held}, {rows}", DataWarning, stacklevel=2)
