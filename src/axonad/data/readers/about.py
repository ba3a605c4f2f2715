"""What a file holds and what became of it: the rows of ``axonad inspect``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from axonad.data.raster import SECOND
from axonad.data.series import Series
from axonad.data.timing import sampling_interval, to_seconds


@dataclass(frozen=True, kw_only=True)
class ChannelAbout:
    """One channel: what it is, and how many rows have a new value, a held one, and none."""

    name: str
    unit: str = ""
    native: float | None = None  # microseconds between samples
    samples: int | None = None  # None: not read
    low: float | None = None
    high: float | None = None
    max_age: int | None = None  # microseconds for which a value is held
    fresh: int = 0
    held: int = 0
    missing: int = 0
    why: str = ""  # why it was left out


@dataclass(frozen=True, kw_only=True)
class About:
    """The raster of a file and its channels."""

    interval: float | None  # microseconds between rows
    rows: int
    channels: tuple[ChannelAbout, ...]
    is_recording: bool = False
    fastest: str = ""  # the channel that set the interval; empty if it was asked for

    @property
    def used(self) -> list[ChannelAbout]:
        """The channels that were read."""
        return [one for one in self.channels if not one.why]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return what is known of a file from its fields."""
        channels = tuple(ChannelAbout(**one) for one in values["channels"])
        return cls(**dict(values) | {"channels": channels})


def about_table(series: Series) -> About:
    """Return what is known of a table; nothing of it is held."""
    seconds = None if series.times is None else to_seconds(series.times)
    interval = None if seconds is None else sampling_interval(seconds)
    native = None if interval is None else interval * SECOND
    units = series.units or ("",) * len(series.channels)
    found = []
    for i, (name, unit) in enumerate(zip(series.channels, units, strict=True)):
        values = series.values[:, i]
        known = values[np.isfinite(values)]
        one = ChannelAbout(
            name=name, unit=unit, native=native, samples=len(known),
            low=float(known.min()) if len(known) else None,
            high=float(known.max()) if len(known) else None,
            fresh=len(known), missing=len(values) - len(known),
        )  # fmt: skip
        found.append(one)
    return About(interval=native, rows=len(series), channels=tuple(found))
