"""Scores as recordings: MDF4 and MCAP files that open in the tools that made the input."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import __version__, atomic
from axonad.data.raster import SECOND, Micros, to_micros
from axonad.data.series import Series
from axonad.data.timing import to_seconds
from axonad.errors import ConfigError, DataWarning
from axonad.explanation import Explanation
from axonad.extras import need
from axonad.threshold import Event

RECORDING_ENDINGS = (".mf4", ".mcap")
TOPIC, CHANNELS_TOPIC = "/axonad", "/channels"
EXPECTED = "expected"
DATED = 10 * 365 * 86_400 * SECOND  # microseconds; times after 1980 are dates

Columns = dict[str, NDArray[np.float64]]


def write_recording(
    path: Path, series: Series, found: Explanation, events: Iterable[Event] = ()
) -> None:
    """Write the channels of a series with its score, the parts of the score and the alarm.

    Beside them is what each channel was expected to be, if the model can tell; where ``events`` are
    explained, without the channels to blame. Rows without a time get the number of the step as
    seconds. What is missing is left out.
    """
    times = _micros(series)
    scores: Columns = {"score": found.scores, **found.components}
    scores["alarm"] = found.alarms.astype(np.float64)
    values = series.values.astype(np.float64)
    if series.unusable is not None:
        values = np.where(series.unusable[:, None] & ~np.isfinite(values), np.nan, values)
    channels: Columns = {name: values[:, i] for i, name in enumerate(series.channels)}
    units = dict(zip(series.channels, series.units or (), strict=False))
    expected = _expected(series, found, events)
    with atomic.replacement(path) as temporary:
        if path.suffix.lower() == ".mf4":
            _write_mdf(temporary, times, channels, scores, expected, units)
        else:
            _write_mcap(temporary, times, channels, scores, expected)


def _expected(series: Series, found: Explanation, events: Iterable[Event]) -> Columns:
    """Return what channels were expected to be by name; none if the model cannot tell."""
    if found.scene is None:
        return {}
    try:
        values = found.expected(events)
    except ConfigError as error:  # such as a model that was saved by an earlier version
        warnings.warn(f"expected channels are not written: {error}", DataWarning, stacklevel=3)
        return {}
    if series.unusable is not None:
        values[series.unusable] = np.nan
    names = found.names or series.channels
    known: NDArray[np.bool_] = np.asarray(np.isfinite(values).any(axis=0))
    return {name: values[:, i] for i, name in enumerate(names) if known[i]}


def _micros(series: Series) -> Micros:
    """Return the times of rows in microseconds; steps as seconds where time is not known."""
    seconds = None if series.times is None else to_seconds(series.times)
    if seconds is None or not np.isfinite(seconds).all() or (np.diff(seconds) < 0).any():
        seconds = np.arange(len(series), dtype=np.float64)
    return to_micros(seconds)


def _write_mdf(
    path: Path,
    times: Micros,
    channels: Columns,
    scores: Columns,
    expected: Columns,
    units: Mapping[str, str],
) -> None:
    asammdf = need("asammdf", what="MDF files need")
    begin = int(times[0]) if len(times) and times[0] > DATED else 0
    seconds = (times - begin) / SECOND
    names = [name if name not in channels else f"axonad.{name}" for name in scores]
    renamed = dict(zip(names, scores.values(), strict=True))
    units = {**units, **{f"{EXPECTED}/{name}": unit for name, unit in units.items()}}
    courses = {f"{EXPECTED}/{name}": column for name, column in expected.items()}
    groups = {"channels": channels, "axonad": renamed} | ({EXPECTED: courses} if courses else {})
    with asammdf.MDF(version="4.10") as mdf:
        mdf.start_time = datetime.fromtimestamp(begin / SECOND, UTC)
        for group, columns in groups.items():
            signals = [
                asammdf.Signal(
                    samples=np.nan_to_num(column), timestamps=seconds, name=name,
                    unit=units.get(name, ""), invalidation_bits=_invalid(column),
                )
                for name, column in columns.items()
            ]  # fmt: skip
            mdf.append(signals, acq_name=group, comment=f"axonad {__version__}")
        saved = Path(mdf.save(path.with_suffix(".mf4"), overwrite=True))
    if saved != path:  # the library insists on its ending
        saved.replace(path)


def _invalid(column: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    missing = ~np.isfinite(column)
    return missing if missing.any() else None


def _write_mcap(
    path: Path, times: Micros, channels: Columns, scores: Columns, expected: Columns
) -> None:
    mcap = need("mcap.writer", what="MCAP files need")
    with path.open("wb") as file:
        writer = mcap.Writer(file)
        writer.start(library=f"axonad {__version__}")
        topics = {CHANNELS_TOPIC: channels, TOPIC: scores}
        for topic, columns in (topics | ({f"/{EXPECTED}": expected} if expected else {})).items():
            schema = writer.register_schema(
                name=topic.strip("/"), encoding="jsonschema", data=_schema(columns)
            )
            number = writer.register_channel(topic=topic, message_encoding="json", schema_id=schema)
            for time, text in zip(times.tolist(), _messages(columns), strict=True):
                stamp = max(0, time) * 1000
                writer.add_message(number, log_time=stamp, data=text, publish_time=stamp)
        writer.finish()


def _schema(columns: Columns) -> bytes:
    """Return the JSON schema of messages with one number per column."""
    numbers = {name: {"type": "number"} for name in columns}
    return json.dumps({"type": "object", "properties": numbers}).encode()


def _messages(columns: Columns) -> Iterator[bytes]:
    """Yield one message per row; missing values are left out."""
    names = list(columns)
    rows: Any = zip(*(column.tolist() for column in columns.values()), strict=True)
    for row in rows:
        known = {n: v for n, v in zip(names, row, strict=True) if v - v == 0.0}
        yield json.dumps(known).encode()
