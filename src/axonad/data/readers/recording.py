"""A recording as a table: its channels on one raster; see :mod:`axonad.data.resample`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import (
    SECOND,
    choose_interval,
    describe_interval,
    hold_age,
    native_interval,
)
from axonad.data.readers.about import About, ChannelAbout
from axonad.data.readers.asked import Asked
from axonad.data.readers.columns import Columns, wrong_label
from axonad.data.readers.limits import largest_series
from axonad.data.readers.samples import Samples, find_label
from axonad.data.readers.table import Table
from axonad.data.resample import Resampler
from axonad.data.series import Series
from axonad.errors import FileError, InputError

TIME = "\0time"  # no channel has this name
PIECE = 2**22  # values of a part when a file is read at once
LATEST = 2**52  # microseconds; a later time is damage, and sums with it would overflow
FEWEST = 2  # samples of a channel that is used without being named
SPARSE = 0.5  # a larger share of rows without a value is worth a note


def to_table(
    found: Sequence[Samples],
    asked: Asked,
    *,
    shown: str,
    name: str,
    is_absolute: bool,
    rows: int | None = None,
) -> Table:
    """Return the raster of a recording, in parts of ``rows`` rows or of any number.

    ``is_absolute`` says that times count from 1970, ``shown`` is the path for messages.
    """
    if asked.time is not None:
        raise InputError(f"{name} is a recording and has its own times; leave out time (--time)")
    listed = [_checked(one, asked) for one in found]
    used = [one for one in listed if not one.why]
    if not used:
        reasons = sorted({one.why for one in listed})
        why = f": {len(listed)} left out ({'; '.join(reasons[:3])})" if listed else ""
        raise InputError(f"{name} has no channels to read{why}; axonad inspect lists them")
    label = find_label(asked, [one.name for one in used], name=name)
    made = _Raster(used, asked, label, name)
    if not made.channels:
        raise InputError(f"{name} has no channels but labels; expected at least one")
    count = made.resampler.count_rows(made.until)
    limit = largest_series()
    if count * len(used) * 8 > limit and (rows is None or count * 8 > limit):
        raise FileError(
            f"{shown} has {count} rows of {describe_interval(made.interval)}, more than "
            f"{limit / 2**30:.3g} GiB of values; pass a lower rate (--rate) or fewer channels"
        )
    if not count:
        raise InputError(f"{name} has no row at {describe_interval(made.interval)}; lower --rate")
    columns = Columns(made.channels, label, TIME, name)
    table = Table(columns, iter(()), rows=count, units=made.units)
    size = max(1, PIECE // len(used)) if rows is None else rows
    table.frames = _frames(made, table, listed, size, is_absolute=is_absolute)
    return table


class _Raster:
    """The channels to read, their native intervals and the resampler with all samples."""

    def __init__(self, used: Sequence[Samples], asked: Asked, label: str | None, name: str) -> None:
        self.used = used
        _check_times(used, name)
        self.native = _native(used)
        self.fastest = ""
        interval = asked.interval()
        if interval is None:
            known = {k: v for k, v in self.native.items() if v is not None and k != label}
            self.fastest = min(known, key=lambda one: known[one], default="")
            interval = choose_interval(known.values())
        self.interval = interval
        self.ages = {}
        for channel, native in self.native.items():
            age = asked.age(channel)
            self.ages[channel] = hold_age(native, interval) if age is None else max(age, interval)
        self.channels = tuple(one.name for one in used if one.name != label)
        self.units = tuple(one.unit for one in used if one.name != label)
        self.label = label
        self.resampler = Resampler(self.ages, interval=interval)
        for one in used:
            self.resampler.push(one.name, one.times, one.values)
        self.until = self.resampler.last_time()


def _check_times(used: Sequence[Samples], name: str) -> None:
    """Raise an error for times so far away that sums with them would overflow."""
    for times in {id(one.times): one.times for one in used}.values():
        latest = max(int(times.max()), -int(times.min()))
        if latest > LATEST:
            raise InputError(
                f"{name} has a sample {latest / SECOND:.3g} s from the beginning of time; the file "
                "is damaged"
            )


def _native(used: Sequence[Samples]) -> dict[str, float | None]:
    """Return the native interval of each channel; those of a group share the array of times."""
    shared = {id(one.times): one.times for one in used}
    found = {key: native_interval(times) for key, times in shared.items()}
    return {one.name: found[id(one.times)] for one in used}


def _checked(one: Samples, asked: Asked) -> Samples:
    """Return the samples of a channel that are numbers; say if they are too few."""
    if one.why:
        return one
    times, values = one.times, one.values
    if not np.isfinite(np.add.reduce(values)):
        finite = np.isfinite(values)
        if not finite.all():
            times, values = times[finite], values[finite]
    if not len(times) or (len(times) < FEWEST and one.name not in asked.channels):
        return Samples(one.name, one.unit, times, why="1 sample" if len(times) else "no samples")
    return replace(one, times=times, values=values)


def _frames(
    made: _Raster, table: Table, listed: Sequence[Samples], size: int, *, is_absolute: bool
) -> Iterator[Series]:
    """Yield the raster part by part; say at the end what became of the channels."""
    names = made.resampler.channels
    kept = [i for i, one in enumerate(names) if one != made.label]
    rows, start = table.rows or 0, 0
    times = made.resampler.row_times(made.until) if rows > size else None
    while start < rows:
        start = min(start + size, rows)
        part = made.resampler.advance(made.until if times is None else int(times[start - 1]))
        labels = None
        if made.label is not None:
            labels = _labels(part.values[:, names.index(made.label)], made.label, table.columns)
        if start == rows:
            _describe(made, table, listed)
        yield Series(
            values=part.values if labels is None else part.values[:, kept],
            channels=made.channels, labels=labels, name=table.columns.name, units=made.units,
            times=part.times.astype("datetime64[us]") if is_absolute else part.times / SECOND,
        )  # fmt: skip


def _labels(values: NDArray[np.float64], label: str, columns: Columns) -> NDArray[np.int8]:
    """Return 0/1 labels; a row without one is normal."""
    known = np.where(np.isnan(values), 0.0, values)
    wrong = np.flatnonzero(~np.isin(known, (0.0, 1.0)))
    if len(wrong):
        raise wrong_label(label, columns.name, float(known[wrong[0]]), int(wrong[0]))
    return known.astype(np.int8)


def _describe(made: _Raster, table: Table, listed: Sequence[Samples]) -> None:
    rows = table.rows or 0
    about = []
    for one in listed:
        native = made.native.get(one.name) if not one.why else native_interval(one.times)
        known: dict[str, float | int] = {}
        if not one.why:
            known = vars(made.resampler.counts[one.name]) | {
                "low": float(one.values.min()), "high": float(one.values.max()),
                "max_age": made.ages[one.name],
            }  # fmt: skip
        samples = len(one.times) if len(one.times) or not one.why else None
        described = ChannelAbout(
            name=one.name, unit=one.unit, native=native, samples=samples, why=one.why,
            **known,  # type: ignore[arg-type]
        )  # fmt: skip
        about.append(described)
    table.about = About(
        interval=made.interval, rows=rows, channels=tuple(about), is_recording=True,
        fastest=made.fastest,
    )  # fmt: skip
    table.notes += _notes(table.about, table.columns.name)


def _notes(about: About, name: str) -> list[str]:
    notes = []
    if about.fastest and about.interval is not None:
        left = len(about.channels) - len(about.used)
        more = f", {left} left out (axonad inspect says why)" if left else ""
        notes.append(
            f"{name}: {about.rows} rows at {describe_interval(about.interval)}, from the fastest "
            f"channel {about.fastest!r} (--rate changes it); {len(about.used)} channels{more}"
        )
    sparse = [one for one in about.used if one.missing > SPARSE * about.rows]
    for one in sorted(sparse, key=lambda one: -one.missing)[:3]:
        notes.append(
            f"{name}: channel {one.name!r} has no value in {one.missing} of {about.rows} rows, "
            f"which are not used; leave it out (--ignore) or hold it longer (--max-age)"
        )
    return notes
