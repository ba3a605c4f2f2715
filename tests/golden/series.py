"""The series of a pair as a user has it: a Series in Python, or the samples of a live vehicle."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np

import axonad

BEGIN = 1_772_431_200_000_000  # microseconds: the samples of a series without times begin here
STEP = 100_000


@cache
def as_series(pair):
    """Return the series of a pair with the units it is said to have."""
    options = {"rate": "10Hz", "max_age": "3s"} if pair.path.suffix == ".mcap" else {}
    series = axonad.read(pair.path, **options)
    if pair.units is not None:
        series = replace(series, units=pair.units)
    return series


def samples_of(pair):
    """Return the samples of a pair in order of time: microseconds, and values by channel."""
    if pair.path.suffix == ".mcap":
        return samples_of_recording(pair.path)
    series = as_series(pair)
    if series.times is None:
        times = BEGIN + np.arange(len(series)) * STEP
    else:
        times = series.times.astype("datetime64[us]").astype(np.int64)
    return [
        (int(time), dict(zip(series.channels, row.tolist(), strict=True)))
        for time, row in zip(times, series.values, strict=True)
    ]


def samples_of_recording(path):
    """Return the samples of an MCAP recording as they lie in the file, one channel each."""
    from mcap.reader import make_reader

    with path.open("rb") as file:
        return [
            (
                message.log_time // 1000,
                {f"{channel.topic}.value": json.loads(message.data)["value"]},
            )
            for _, channel, message in make_reader(file).iter_messages()
        ]
