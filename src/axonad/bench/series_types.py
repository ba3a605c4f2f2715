"""A series of a suite: a reference that travels to workers, and the series in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.faults import PlantedEvent


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
