"""Where the series of a suite come from: files named as TSB-AD names them, or a generator.

Four types, from reference to data:

- :class:`SeriesRef` names a series; small enough to send to a worker process.
- :class:`LoadedSeries`, from :func:`load`, is that series in memory: values, labels, training part.
- :class:`axonad.data.series.Series` is what a reader finds in a file, with or without labels.
- :class:`axonad.data.telemetry.Telemetry` is what a generator makes, with its planted faults.

A new source is two functions and one line in ``SOURCES``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_choice, check_int
from axonad.data.faults import PlantedEvent
from axonad.data.telemetry import (
    MIN_STEPS,
    Telemetry,
    generate_coordination,
    generate_telemetry,
)
from axonad.data.tsb_ad import list_series, parse_name, read_series
from axonad.errors import ConfigError, InputError

SPLITS = ("eval", "tuning", "all")


@dataclass(frozen=True, kw_only=True)
class SeriesRef:
    """A reference to a series: enough to load it on any machine, without its content."""

    source: str
    name: str
    dataset: str
    split: str = ""
    seed: int | None = None  # of a generated series that is also the seed of its detectors
    size: int = 0  # longer series are run first
    location: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LoadedSeries:
    """A series in memory, with labels and with its division into training and scored steps.

    The training part is the first ``train_steps`` rows; metrics count steps from ``scored_from``
    on. ``events`` are the planted faults, where known.
    """

    values: NDArray[np.float64]
    labels: NDArray[np.int8]
    train_steps: int
    scored_from: int = 0
    events: tuple[PlantedEvent, ...] = ()
    source_fingerprint: str = ""  # set when a protocol divides the series otherwise than its source

    def scored(self, first: int) -> Self:
        """Return this series with another first scored step and the same fingerprint."""
        return replace(self, scored_from=first, source_fingerprint=self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of values, labels and division; the same on every machine."""
        if self.source_fingerprint:
            return self.source_fingerprint
        digest = hashlib.sha256(np.ascontiguousarray(self.values, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.labels, dtype="i1").tobytes())
        digest.update(f"{self.values.shape} {self.train_steps} {self.scored_from}".encode())
        return digest.hexdigest()[:16]


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
    **{kind: Source(partial(_find_generated, kind), _load_generated) for kind in GENERATORS},
}
