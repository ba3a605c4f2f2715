"""Plain rules for values that are no measurements, learned from normal data.

Per channel that moves in normal data:

- **missing**: no value for more rows in a row than twice the longest such run in normal data, and
  than the last value is held for;
- **frozen**: exactly the same value for more rows than twice the longest such run;
- **unplugged**: frozen at a value outside the range of normal data;
- **out of range**: further outside that range than ``margin`` times its width, or times its
  largest magnitude if that is more: an air temperature of 22 to 27 in summer may be 0 in winter.

A channel that only sets the scene (:mod:`axonad.data.context`) has no range to leave: it can be
missing or frozen, but neither out of range nor unplugged.

Runs of up to ``FEWEST`` rows are never reported. A channel that never moves in normal data can only
be missing: what a new value of it means is a question for the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_float
from axonad.data.frames import Names
from axonad.errors import InputError
from axonad.modelfile import check_counts

REASONS = ("out of range", "missing", "frozen", "unplugged")  # a later one outranks an earlier one
MARGIN = 1.0  # widths or magnitudes of the range
FEWEST = 10  # rows; values are held for as many in a stream
FACTOR = 2  # times the longest run of normal data
FAR = 2**62  # more rows than there are
PER_CHANNEL = ("low", "high", "constant", "missing", "share")

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DataRules:
    """What normal data looks like, one value per channel each.

    ``low`` and ``high`` are its range, ``constant`` and ``missing`` its longest runs in rows,
    ``share`` is the share of values it lacks. A channel that had no value at all has the range NaN.
    ``context`` are the columns of channels that only set the scene. ``held`` is the number of rows
    for which whoever scores holds a missing value: until then it is not missing. It is not saved.
    """

    names: Names
    low: Array
    high: Array
    constant: Counts
    missing: Counts
    share: Array
    margin: float = MARGIN
    context: tuple[int, ...] = ()
    held: int = 0

    @classmethod
    def learn(
        cls,
        recordings: Iterable[NDArray[Any]],
        *,
        names: Names = None,
        margin: float = MARGIN,
        context: tuple[int, ...] = (),
    ) -> Self:
        """Return the rules of normal recordings (time, channels); missing values are NaN."""
        check_float("margin", margin, low=0)
        parts = [np.asarray(values, dtype=np.float64) for values in recordings]
        if not parts or not all(part.ndim == 2 and len(part) for part in parts):
            raise InputError("rules for bad data need at least one recording with rows")
        width = parts[0].shape[1]
        if any(part.shape[1] != width for part in parts):
            widths = sorted({part.shape[1] for part in parts})
            raise InputError(f"all recordings must have the same channels, got {widths}")
        low, high = np.full(width, np.inf), np.full(width, -np.inf)
        constant, missing = np.zeros((2, width), dtype=np.int64)
        lacking = np.zeros(width)
        for part in parts:
            known = np.isfinite(part)
            low = np.minimum(low, np.where(known, part, np.inf).min(axis=0))
            high = np.maximum(high, np.where(known, part, -np.inf).max(axis=0))
            runs = run_lengths(part, Carry.start(width))
            constant = np.maximum(constant, runs[0].max(axis=0))
            missing = np.maximum(missing, runs[1].max(axis=0))
            lacking += (~known).sum(axis=0)
        empty = low > high
        low[empty] = high[empty] = np.nan
        share = lacking / sum(map(len, parts))
        return cls(names, low, high, constant, missing, share, margin, context)

    def keep(self, columns: Sequence[int]) -> Self:
        """Return the rules of some of the channels."""
        kept = list(columns)
        names = None if self.names is None else tuple(self.names[i] for i in kept)
        arrays = {name: getattr(self, name)[kept] for name in PER_CHANNEL}
        context = tuple(kept.index(i) for i in self.context if i in kept)
        return replace(self, names=names, context=context, **arrays)

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """Which channels move in normal data."""
        return self.high > self.low

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Values below and above which a channel is out of range."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        reach = self.margin * np.maximum(self.high - self.low, size)
        reach[list(self.context)] = np.inf
        return self.low - reach, self.high + reach

    @cached_property
    def limits(self) -> tuple[Counts, Counts]:
        """Longest runs of one value and without a value that are not reported."""
        # A channel that does not move is never frozen.
        constant = np.where(self.moves, np.maximum(FEWEST, FACTOR * self.constant), FAR)
        return constant, np.maximum(max(FEWEST, self.held), FACTOR * self.missing)

    def ranks(self, values: Array, constant: Counts, missing: Counts) -> NDArray[np.int8]:
        """Return what is wrong with each value: 0 for nothing, else a place in ``REASONS``, from 1.

        ``constant`` and ``missing`` are the lengths of the runs that each value ends.
        """
        below, above = self.bounds
        most_constant, most_missing = self.limits
        ranks = np.zeros(values.shape, dtype=np.int8)
        ranks[((values < below) | (values > above)) & self.moves] = 1
        ranks[missing > most_missing] = 2
        frozen = constant > most_constant
        ranks[frozen] = 3
        if frozen.any():
            outside = (values < self.low) | (values > self.high)
            outside[:, list(self.context)] = False
            ranks[frozen & outside] = 4
        return ranks

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON values."""
        plain: dict[str, Any] = {"names": None if self.names is None else list(self.names)}
        for name in ("low", "high", "share"):
            values = getattr(self, name)
            plain[name] = [None if np.isnan(value) else float(value) for value in values]
        plain |= {name: getattr(self, name).tolist() for name in ("constant", "missing")}
        if self.context:
            plain["context"] = list(self.context)
        return plain | {"margin": self.margin}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, channels: int) -> Self:
        """Return saved rules; raise KeyError, TypeError or ValueError if they make no sense."""
        given = {"context": [], **document}  # rules saved before there was context have none
        saved = [field.name for field in fields(cls) if field.name != "held"]
        values: dict[str, Any] = {name: given[name] for name in saved}
        values["context"] = tuple(check_counts("context", values["context"]))
        if any(column >= channels for column in values["context"]):
            raise ValueError(f"the rules for bad data have the context {values['context']!r:.60}")
        names = values["names"]
        if names is not None and not all(isinstance(name, str) for name in names):
            raise ValueError(f"the rules for bad data have the names {names!r:.60}")
        values["names"] = None if names is None else tuple(names)
        for name in ("low", "high", "share"):
            values[name] = np.array(values[name], dtype=np.float64)
        for name in ("constant", "missing"):
            counts = np.array(values[name])
            if counts.dtype.kind not in "iu" or (counts < 0).any():
                raise ValueError(f"{name} of the rules for bad data must hold counts")
            values[name] = counts.astype(np.int64)
        sizes = {values[name].shape for name in ("low", "high", "share", "constant", "missing")} | (
            {(len(names),)} if names is not None else set()
        )
        if sizes != {(channels,)}:
            raise ValueError(f"the rules for bad data do not fit {channels} channels")
        check_float("margin", values["margin"], low=0)
        return cls(**values)


@dataclass
class Carry:
    """What the runs of the next rows need of the rows before: last values and lengths of runs."""

    last: Array
    constant: Counts
    missing: Counts

    @classmethod
    def start(cls, channels: int) -> Self:
        """Return the carry before the first row."""
        zeros = np.zeros((2, channels), dtype=np.int64)
        return cls(np.full(channels, np.nan), zeros[0], zeros[1])


def run_lengths(values: Array, carry: Carry) -> tuple[Counts, Counts]:
    """Return for each value how long it has been the same, and how long it has been missing.

    A value that is missing has the first length 0, one that is not the second. ``carry`` is moved
    on to the last row.
    """
    known = np.isfinite(values)
    before = np.concatenate([carry.last[None], values[:-1]])
    constant = _lengths(known, (values == before) & known, carry.constant)
    lacked = np.concatenate([carry.missing[None] > 0, ~known[:-1]])
    missing = _lengths(~known, ~known & lacked, carry.missing)
    carry.last = np.where(known[-1], values[-1], np.nan)
    carry.constant, carry.missing = constant[-1].copy(), missing[-1].copy()
    return constant, missing


def _lengths(counts: NDArray[np.bool_], goes_on: NDArray[np.bool_], before: Counts) -> Counts:
    """Return the lengths of runs: a row that counts begins one, or goes on with the last."""
    rows = np.arange(len(counts))[:, None]
    begins = np.where(goes_on, -FAR, rows)
    begins[0] = np.where(goes_on[0], -before, 0)
    length = rows - np.maximum.accumulate(begins, axis=0) + 1
    return np.where(counts, length, 0)
