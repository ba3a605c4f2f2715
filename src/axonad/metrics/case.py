"""One evaluation case: checked labels with scores or alarms, and what the metrics derive from them.

The 100 thresholds of TSB-AD turn each score into a *level*: a step of level v raises an alarm at
the thresholds 0 ... v - 1. Given alarms are levels of a single threshold, so each threshold metric
is written once for both. Thresholds with the same alarms are merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from axonad.errors import ConfigError, InputError
from axonad.metrics.buckets import Buckets, build_buckets
from axonad.metrics.ranges import (
    BoolArray,
    FloatArray,
    IntArray,
    LevelArray,
    find_ranges,
    sum_above,
)

LONGEST_WINDOW = 10_000  # or the series length, if that is longer
THRESHOLDS = 100  # equally spaced between the lowest and the highest score, as in TSB-AD

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Case:
    """Labels with scores or alarms; create one with `from_scores` or `from_alarms`."""

    labels: BoolArray
    window: int
    values: FloatArray  # scores, or alarms as 0.0 and 1.0
    thresholds: FloatArray
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_scores(cls, scores: ArrayLike, labels: ArrayLike, *, window: int = 0) -> Case:
        """Return a case with 100 thresholds between the lowest and the highest score."""
        values = check_scores(scores)
        thresholds = np.linspace(values.min(), values.max(), THRESHOLDS)
        return cls._checked(values, labels, window, thresholds, name="scores")

    @classmethod
    def from_alarms(cls, alarms: ArrayLike, labels: ArrayLike, *, window: int = 0) -> Case:
        """Return a case of given 0/1 alarms."""
        values = check_binary(alarms, name="alarms").astype(np.float64)
        return cls._checked(values, labels, window, np.array([0.5]), name="alarms")

    @classmethod
    def _checked(
        cls, values: FloatArray, labels: ArrayLike, window: int, thresholds: FloatArray, name: str
    ) -> Case:
        truth = check_labels(labels, size=values.size, other=name)
        if not truth.any():
            raise InputError(
                f"labels must mark at least one anomaly, got {truth.size} steps labelled 0;"
                " for false alarms on normal data use axonad.metrics.describe_alarms"
            )
        if truth.all():
            raise InputError(
                f"labels must leave at least one normal step, got {truth.size} steps labelled 1;"
                " evaluate on a series that also contains normal operation"
            )
        longest = max(LONGEST_WINDOW, truth.size)
        if window > longest:
            raise ConfigError(
                f"window must be at most {longest} for {truth.size} steps, got {window}"
            )
        return cls(truth, window, values, thresholds)

    def once(self, build: Callable[[Case], Value]) -> Value:
        """Return ``build(self)``, cached after the first call."""
        if build not in self._cache:
            self._cache[build] = build(self)
        return cast("Value", self._cache[build])

    @property
    def size(self) -> int:
        """Number of steps."""
        return self.labels.size

    @cached_property
    def starts(self) -> IntArray:
        """First step of each event."""
        return find_ranges(self.labels)[0]

    @cached_property
    def stops(self) -> IntArray:
        """First step after each event."""
        return find_ranges(self.labels)[1]

    @cached_property
    def buckets(self) -> Buckets:
        """The scores in buckets, for the ranks of a few of them."""
        return build_buckets(self.values)

    @cached_property
    def levels(self) -> LevelArray:
        """Number of thresholds below each score, thresholds with the same alarms merged."""
        raw = np.searchsorted(self.thresholds, self.values, side="left")
        present = np.bincount(raw, minlength=1) > 0
        present[0] = True
        return (np.cumsum(present) - 1)[raw].astype(np.uint8)

    @cached_property
    def level_count(self) -> int:
        """Number of thresholds that differ in their alarms (at least 1)."""
        return max(int(self.levels.max()), 1)

    @cached_property
    def event_level(self) -> LevelArray:
        """Highest level inside each event."""
        bounds = np.stack([self.starts, self.stops], axis=1).ravel()
        padded = np.append(self.levels, np.uint8(0))
        return cast("LevelArray", np.maximum.reduceat(padded, bounds)[::2])

    @cached_property
    def level_counts(self) -> tuple[IntArray, IntArray]:
        """For each threshold, how many event steps and how many normal steps raise an alarm."""
        bins = self.level_count + 1
        everything = np.bincount(self.levels, minlength=bins)
        inside = np.bincount(self.levels[self.labels], minlength=bins)
        return sum_above(inside), sum_above(everything - inside)


def check_scores(scores: ArrayLike) -> FloatArray:
    """Return the scores as one float64 per step; raise ``InputError`` if that is not possible."""
    values = _as_vector(scores, name="scores")
    if values.dtype.kind not in "biuf":
        raise InputError(f"scores must be numbers, got dtype {values.dtype}; convert them first")
    values = np.asarray(values, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"scores must be finite, got {values[bad[0]]} at step {bad[0]}"
            f" ({bad.size} of {values.size} steps); replace or drop these steps before evaluating"
        )
    with np.errstate(over="ignore"):
        spread = values.max() - values.min()
    if not np.isfinite(spread):
        raise InputError(
            f"scores must span a finite range, got {values.min()} to {values.max()};"
            " compress them, for example with arcsinh"
        )
    return values


def check_binary(values: ArrayLike, *, name: str) -> BoolArray:
    """Return 0/1 values as booleans; raise ``InputError`` for any other value."""
    vector = _as_vector(values, name=name)
    if vector.dtype.kind not in "biuf":
        raise InputError(f"{name} must be 0 or 1 for every step, got dtype {vector.dtype}")
    if vector.dtype.kind == "b":
        return vector
    wrong = np.flatnonzero((vector != 0) & (vector != 1))
    if wrong.size:
        raise InputError(
            f"{name} must be 0 or 1, got {vector[wrong[0]]} at step {wrong[0]}"
            f" ({wrong.size} of {vector.size} steps); map them to 0 (normal) and 1 (anomaly)"
        )
    return vector.astype(np.bool_)


def check_labels(labels: ArrayLike, *, size: int, other: str) -> BoolArray:
    """Return 0/1 labels of the given length as booleans."""
    checked = check_binary(labels, name="labels")
    if checked.size != size:
        raise InputError(
            f"{other} and labels must have the same length, got {size} {other} and"
            f" {checked.size} labels; give one label per step"
        )
    return checked


def _as_vector(values: ArrayLike, *, name: str) -> np.ndarray[Any, Any]:
    if values is None:
        raise InputError(f"{name} must be an array with one value per step, got None")
    try:
        vector = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be one value per step, got rows of unequal length") from None
    if vector.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one value per step, got shape {vector.shape}"
        )
    if not vector.size:
        raise InputError(f"{name} must not be empty, got 0 steps")
    return vector
