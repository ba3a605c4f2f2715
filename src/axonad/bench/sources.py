"""Where a suite's series come from: files named in TSB-AD's manner, or a generator.

A :class:`SeriesRef` says which series, small enough to travel to a worker; :func:`load` turns it
into a :class:`Subject`, the series with what a benchmark must know of it. A new source is two
functions and one line in ``SOURCES``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

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
    """Which series: enough to load it anywhere, and nothing of its content."""

    source: str
    name: str
    dataset: str
    split: str = ""
    seed: int | None = None  # a generated series belongs to the seed that made it
    size: int = 0  # for ordering: long ones first
    location: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A series to be judged on: values, labels, and where training ends.

    Metrics count steps from ``scored_from`` on; ``events`` are the planted faults, where known.
    """

    values: NDArray[np.float64]
    labels: NDArray[np.int8]
    train_steps: int
    scored_from: int = 0
    events: tuple[PlantedEvent, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Return a short hash of values and labels: equal for equal content, anywhere."""
        digest = hashlib.sha256(np.ascontiguousarray(self.values, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.labels, dtype="i1").tobytes())
        digest.update(f"{self.values.shape} {self.train_steps} {self.scored_from}".encode())
        return digest.hexdigest()[:16]


class Source(NamedTuple):
    """How to list and how to load the series of one kind of data."""

    find: Callable[[Mapping[str, Any], Sequence[int]], list[SeriesRef]]
    load: Callable[[SeriesRef], Subject]


def find(data: Mapping[str, Any], *, seeds: Sequence[int]) -> list[SeriesRef]:
    """Return the series a suite's ``[data]`` table names, the longest first."""
    options = dict(data)
    kind = options.pop("source", None)
    check_choice("data.source", kind, SOURCES)
    found = SOURCES[str(kind)].find(options, seeds)
    return sorted(found, key=lambda ref: (-ref.size, ref.name))


def load(ref: SeriesRef) -> Subject:
    """Return the series a reference names; refuse one that scores cannot be judged by."""
    subject = SOURCES[ref.source].load(ref)
    if not subject.labels[subject.scored_from :].any():
        raise InputError(f"{ref.name} has no labelled anomaly to judge scores by")
    return subject


def load_training(ref: SeriesRef) -> NDArray[np.float64]:
    """Return the training rows of a series; labels need not exist."""
    subject = SOURCES[ref.source].load(ref)
    return subject.values[: subject.train_steps]


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


def _load_file(ref: SeriesRef) -> Subject:
    name = parse_name(ref.name)
    series = next(iter(read_series(ref.location, [name])))
    labels = np.zeros(len(series), dtype=np.int8) if series.labels is None else series.labels
    return Subject(
        values=np.asarray(series.values, dtype=np.float64),
        labels=labels,
        train_steps=name.train_rows,
    )


# -- generated streams -------------------------------------------------------------------------

GENERATORS: dict[str, Callable[..., Telemetry]] = {
    "telemetry": generate_telemetry,
    "coordination": generate_coordination,
}


def _find_generated(kind: str) -> Callable[[Mapping[str, Any], Sequence[int]], list[SeriesRef]]:
    def find_streams(options: Mapping[str, Any], seeds: Sequence[int]) -> list[SeriesRef]:
        _refuse_unknown(options, ("steps",))
        check_int("data.steps", options.get("steps", MIN_STEPS), low=MIN_STEPS)
        return [
            SeriesRef(
                source=kind,
                name=f"{kind}-{seed}",
                dataset=kind,
                seed=seed,
                size=int(options.get("steps", 80_000)),
                options=dict(options),
            )
            for seed in seeds
        ]

    return find_streams


def _load_generated(ref: SeriesRef) -> Subject:
    stream = _generate(ref.source, ref.seed, tuple(sorted(ref.options.items())))
    return Subject(
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
    "telemetry": Source(_find_generated("telemetry"), _load_generated),
    "coordination": Source(_find_generated("coordination"), _load_generated),
}
