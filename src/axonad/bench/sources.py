"""Where the series of a suite come from: files with TSB-AD's names, own files, or a generator.

Four types, from reference to data:

- :class:`SeriesRef` names a series; small enough to send to a worker process.
- :class:`LoadedSeries`, from :func:`load`, is that series in memory: values, labels, training part.
- :class:`axonad.data.series.Series` is what a reader finds in a file, with or without labels.
- :class:`axonad.data.telemetry.Telemetry` is what a generator makes, with its planted faults.

A new source is two functions and one line in ``SOURCES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.bench.own_files import find_own_files, load_own_file
from axonad.bench.series_types import LoadedSeries, SeriesRef
from axonad.config import check_choice, check_int
from axonad.data.telemetry import (
    MIN_STEPS,
    Telemetry,
    generate_coordination,
    generate_telemetry,
)
from axonad.data.tsb_ad import list_series, parse_name, read_series
from axonad.errors import ConfigError, InputError, UnknownNameError, suggest

__all__ = ["LoadedSeries", "SeriesRef", "choose", "find", "load", "load_training"]

SPLITS = ("eval", "tuning", "all")


class Source(NamedTuple):
    """How to list and how to load the series of one source."""

    find: Callable[[Mapping[str, Any], Sequence[int]], list[SeriesRef]]
    load: Callable[[SeriesRef], LoadedSeries]


def find(data: Mapping[str, Any], *, seeds: Sequence[int]) -> list[SeriesRef]:
    """Return the series that a suite's ``[data]`` table names, the longest first."""
    options = dict(data)
    kind = options.pop("source", None)
    check_choice("data.source", kind, SOURCES)
    found = SOURCES[str(kind)].find(options, seeds)
    return sorted(found, key=lambda ref: (-ref.size, ref.name))


def choose(refs: list[SeriesRef], parts: Sequence[str], split: str | None) -> list[SeriesRef]:
    """Return the series of a split whose names contain one of some parts."""
    if split is not None:
        known = ", ".join(sorted({ref.split for ref in refs} - {""})) or "none"
        refs = [ref for ref in refs if ref.split == split]
        if not refs:
            raise UnknownNameError(f"no series of split {split!r}; the suite has {known}")
    for part in parts:
        if not any(part in ref.name for ref in refs):
            raise UnknownNameError(
                f"no series has {part!r} in its name{suggest(part, [r.name for r in refs])}"
            )
    return [ref for ref in refs if not parts or any(part in ref.name for part in parts)]


def load(ref: SeriesRef) -> LoadedSeries:
    """Return the series of a reference; refuse one without a labelled anomaly."""
    series = SOURCES[ref.source].load(ref)
    if not series.labels[series.scored_from :].any():
        raise InputError(f"{ref.name} has no labelled anomaly, which metrics need")
    return series


def load_training(ref: SeriesRef) -> NDArray[np.float64]:
    """Return the training rows of a series, which need no labels."""
    series = SOURCES[ref.source].load(ref)
    return series.values[: series.train_steps]


# -- files -------------------------------------------------------------------------------------


def _find_files(options: Mapping[str, Any], seeds: Sequence[int]) -> list[SeriesRef]:
    _refuse_unknown(options, ("path", "split"))
    split = options.get("split", "all")
    check_choice("data.split", split, SPLITS)
    location = Path(str(options.get("path", ""))).absolute()
    refs = []
    for name in list_series(location):
        belongs = "" if name.number is None else "tuning" if name.is_tuning else "eval"
        if split in ("all", belongs):
            refs.append(
                SeriesRef(
                    source="files",
                    name=name.file,
                    dataset=name.dataset,
                    split=belongs,
                    size=name.train_rows,
                    location=str(location),
                )
            )
    if not refs:
        raise InputError(f"{location} has no series of split {split!r}")
    return refs


def _load_file(ref: SeriesRef) -> LoadedSeries:
    name = parse_name(ref.name)
    series = next(iter(read_series(ref.location, [name])))
    labels = np.zeros(len(series), dtype=np.int8) if series.labels is None else series.labels
    values = np.asarray(series.values, dtype=np.float64)
    return LoadedSeries(values=values, labels=labels, train_steps=name.train_rows)


# -- generated streams -------------------------------------------------------------------------

GENERATORS: dict[str, Callable[..., Telemetry]] = {
    "telemetry": generate_telemetry,
    "coordination": generate_coordination,
}


def _find_generated(kind: str, options: Mapping[str, Any], seeds: Sequence[int]) -> list[SeriesRef]:
    """Return one drive per seed or, with the option ``drive``, the one that this seed generates."""
    _refuse_unknown(options, ("steps", "drive"))
    check_int("data.steps", options.get("steps", MIN_STEPS), low=MIN_STEPS)
    check_int("data.drive", options.get("drive", 0), low=0)
    return [
        SeriesRef(
            source=kind,
            name=f"{kind}-{drive}",
            dataset=kind,
            seed=None if "drive" in options else drive,
            size=int(options.get("steps", 80_000)),
            options=dict(options),
        )
        for drive in ([options["drive"]] if "drive" in options else seeds)
    ]


def _load_generated(ref: SeriesRef) -> LoadedSeries:
    options = dict(ref.options)
    seed = options.pop("drive", ref.seed)
    stream = _generate(ref.source, seed, tuple(sorted(options.items())))
    return LoadedSeries(
        values=stream.values,
        labels=stream.labels,
        train_steps=stream.train_end,
        scored_from=stream.train_end,
        events=stream.events,
    )


@lru_cache(maxsize=1)
def _generate(kind: str, seed: int | None, options: tuple[tuple[str, Any], ...]) -> Telemetry:
    return GENERATORS[kind](seed=seed, **dict(options))


def _refuse_unknown(options: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in options:
        if name not in known:
            raise ConfigError(f"data has no setting {name!r}; known: {', '.join(known)}")


SOURCES: dict[str, Source] = {
    "files": Source(_find_files, _load_file),
    "recordings": Source(find_own_files, load_own_file),
    **{kind: Source(partial(_find_generated, kind), _load_generated) for kind in GENERATORS},
}
