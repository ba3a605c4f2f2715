"""Own labelled files as the series of a suite, of any format that ``axonad.read`` takes.

The first rows of a file are for training, a share of ``train``; all others are scored. Rows with a
missing value are left out, as in TSB-AD. A file that cannot be read becomes a row with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axonad.bench.series_types import LoadedSeries, SeriesRef
from axonad.config import check_float
from axonad.data.readers import read
from axonad.errors import ConfigError, InputError

TRAIN = 0.5
READING = (
    "label", "time", "ignore", "separator", "channels", "dbc", "rate", "max_age", "codes",
)  # fmt: skip


def find_own_files(options: Mapping[str, Any], seeds: Sequence[int]) -> list[SeriesRef]:
    """Return the files that a ``[data]`` table names in ``paths``."""
    for name in options:
        if name not in ("paths", "train", *READING):
            known = ", ".join(("paths", "train", *READING))
            raise ConfigError(f"data has no setting {name!r}; known: {known}")
    check_float("data.train", options.get("train", TRAIN), above=0, below=1)
    paths = options.get("paths")
    if not isinstance(paths, list | tuple) or not paths:
        raise ConfigError(f"data.paths must be a list of files, got {paths!r:.60}")
    found = [Path(str(path)) for path in paths]
    seen = Counter(path.name for path in found)
    own = {name: value for name, value in options.items() if name != "paths"}
    return [
        SeriesRef(
            source="recordings",
            name=path.name if seen[path.name] == 1 else str(path),
            dataset="own files",
            size=path.stat().st_size if path.is_file() else 0,
            location=str(path.absolute()),
            options=own,
        )
        for path in found
    ]


def load_own_file(ref: SeriesRef) -> LoadedSeries:
    """Return the series of a file with its labels and its training part."""
    reading = {name: value for name, value in ref.options.items() if name != "train"}
    series = read(ref.location, **reading)
    if series.labels is None:
        raise InputError(
            f"{ref.name} has no labels, which metrics need; a column named Label has 0 and 1"
        )
    complete = np.asarray(np.isfinite(series.values).all(axis=1))
    series = series.select(complete)
    train = int(float(ref.options.get("train", TRAIN)) * len(series))
    if train and series.labels is not None and series.labels[:train].any():
        count = int(series.labels[:train].sum())
        raise InputError(
            f"{ref.name} has {count} anomalous rows among the first {train}, which are to be "
            "learned from; pass a smaller share (--train)"
        )
    values = np.asarray(series.values, dtype=np.float64)
    labels = np.asarray(series.labels, dtype=np.int8)
    return LoadedSeries(values=values, labels=labels, train_steps=train, scored_from=train)
