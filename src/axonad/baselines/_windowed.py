"""The base of the classical baselines: a function that says how strange one window is.

A window is ``window`` rows laid out as one vector, channel after channel; with ``window=1`` it is
a row. A detector's own file learns from windows (:meth:`~WindowedDetector._learn`) and scores a
batch of them (:meth:`~WindowedDetector._window_score`). Units, batches and alignment are done here.
Windows are gathered from the series batch by batch or as a sample; no array of all of them exists.

Units, stated once for all of them:

===========  ======================================================================================
``"own"``    each window by its own mean and deviation over all its values, channels mixed. TSB-AD's
             choice: only the shape across channels is left, a row that doubles looks the same. One
             channel and ``window=1`` leave nothing to see, so one channel takes ``"train"``
``"train"``  each channel by its training mean and deviation
``"soft"``   the same with a floor, compressed far out; see :mod:`axonad.data.scaling`
``"raw"``    values as they are
===========  ======================================================================================
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from axonad.config import check_choice, check_int
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import Scaler, fit_scaler
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.detector import Detector
from axonad.errors import InputError
from axonad.modelfile import Arrays

UNITS = ("own", "train", "soft", "raw")
PLACEMENTS = (*ALIGNMENTS, "mean")
BATCH_VALUES = 2_000_000  # numbers in a batch of windows

Values = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class WindowedDetector(Detector):
    """Base of the classical baselines; their shared parameters are described here.

    Parameters
    ----------
    window
        Rows that are scored together; 1 scores each row by itself.
    units
        ``"own"`` (TSB-AD's choice), ``"train"``, ``"soft"`` or ``"raw"``; see this module.
    align
        Where a window's score belongs: its ``"center"``, its ``"end"``, or ``"mean"``: a step gets
        the mean over all windows that cover it.
    """

    window: int = 1
    units: str = "own"
    align: str = "center"

    changeable: ClassVar[frozenset[str]] = frozenset({"align"})
    learned: ClassVar[tuple[str, ...]] = ()
    """Attributes ``_learn`` sets, all of them arrays: what is saved."""

    @property
    def history(self) -> int:
        """Rows a score needs: one window."""
        return self.window

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _learn(self, X: Matrix) -> Values | None:
        """Learn from the windows of ``X``; return their scores if those differ from scoring."""

    @abstractmethod
    def _window_score(self, windows: Values) -> Values:
        """Return one score per window (first axis)."""

    # -- the contract ------------------------------------------------------------------------

    def _fit(self, X: Matrix, names: Names) -> Values | None:
        rule = "train" if self.units == "own" and X.shape[1] == 1 else self.units
        self._scaler: Scaler | None = None
        if rule in ("train", "soft"):
            self._scaler = fit_scaler(X, rule, names)
        ends = self._learn(X)
        return None if ends is None else self._placed(ends)

    def _score(self, X: Matrix) -> Values:
        return self._placed(self._score_ends(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        return np.concatenate([self._window_score(batch) for batch in self._batches(X)]), {}

    def _placed(self, ends: Values) -> Values:
        if self.align == "mean":
            return mean_over_cover(ends, window=self.window)
        return spread(ends, window=self.window, align=self.align)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("window", self.window, low=1)
        check_choice("units", self.units, UNITS)
        check_choice("align", self.align, PLACEMENTS)

    # -- windows -----------------------------------------------------------------------------

    def _batches(self, X: Matrix) -> Iterator[Values]:
        """Yield the windows of ``X`` in order, some at a time."""
        size = max(1, BATCH_VALUES // (self.window * X.shape[1]))
        count = count_windows(len(X), self.window)
        for start in range(0, count, size):
            stop = min(start + size, count)
            rows = self._in_units(X[start : stop + self.window - 1])
            yield self._finish(sliding_window_view(rows, self.window, axis=0))

    def _take(self, X: Matrix, starts: NDArray[np.integer], dtype: Any = np.float64) -> Values:
        """Return the windows that begin at the given rows."""
        channels = X.shape[1]
        taken: Values = np.empty((len(starts), self.window * channels), dtype=dtype)
        size = max(1, BATCH_VALUES // taken.shape[1])
        for i in range(0, len(starts), size):
            places = starts[i : i + size, None] + np.arange(self.window)
            rows = self._in_units(X[places.ravel()]).reshape(*places.shape, channels)
            taken[i : i + size] = self._finish(rows.swapaxes(1, 2))
        return taken

    def _choose(self, X: Matrix, most: int | None, seed: int) -> NDArray[np.int64]:
        """Return where up to ``most`` windows begin, drawn without replacement, in order."""
        count = count_windows(len(X), self.window)
        if most is None or count <= most:
            return np.arange(count)
        return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))

    def _in_units(self, X: Matrix) -> Values:
        return np.asarray(X if self._scaler is None else self._scaler.apply(X), dtype=np.float64)

    def _finish(self, windows: Values) -> Values:
        """Return windows (many, channels, window) as vectors, in their own units if asked."""
        flat = windows.reshape(len(windows), -1)
        if self.units == "own" and self._scaler is None:
            return standardise_own(flat, is_row=self.window == 1)
        return np.ascontiguousarray(flat)

    def _require_windows(self, X: Matrix, least: int) -> None:
        if count_windows(len(X), self.window) < least:
            raise InputError(
                f"{type(self).__name__} with window={self.window} needs at least "
                f"{self.window + least - 1} training rows, got {len(X)}"
            )

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {name.removeprefix("_"): getattr(self, name) for name in self.learned}
        if self._scaler is not None:
            arrays |= {"scaler.center": self._scaler.center, "scaler.unit": self._scaler.unit}
        return {}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self._scaler = None
        if "scaler.center" in arrays:
            rule = "soft" if self.units == "soft" else "train"
            self._scaler = Scaler(rule, arrays["scaler.center"], arrays["scaler.unit"])
        for name in self.learned:
            setattr(self, name, arrays[name.removeprefix("_")])


def standardise_own(windows: Values, *, is_row: bool) -> Values:
    """Return each window minus its mean, over its deviation; zeros where it is constant.

    Rows that differ in their last digits alone become different copies of one row here, and some
    detectors rank such copies, so the order of summation matters: ours is that of the published
    runs, channel by channel for rows, and numpy's own for longer windows.
    """
    windows = np.require(windows, requirements="F" if is_row else "C")
    mean = windows.mean(axis=1, keepdims=True)
    deviation = windows.std(axis=1, ddof=1, keepdims=True)
    flat = windows.max(axis=1, keepdims=True) == windows.min(axis=1, keepdims=True)
    result: Values = (windows - mean) / np.where(flat | (deviation == 0), np.inf, deviation)
    return np.ascontiguousarray(result)


def mean_over_cover(ends: Values, *, window: int) -> Values:
    """Return for each step the mean over the windows that cover it.

    >>> mean_over_cover(np.array([1.0, 3.0]), window=2).tolist()
    [1.0, 2.0, 3.0]
    """
    total = np.concatenate([[0.0], np.cumsum(ends)])
    step = np.arange(len(ends) + window - 1)
    first, behind = np.maximum(step - window + 1, 0), np.minimum(step + 1, len(ends))
    result: Values = (total[behind] - total[first]) / (behind - first)
    return result


def digest(X: Matrix) -> str:
    """Return what tells whether an array is the very one a detector was fitted on."""
    result = hashlib.sha256(repr(X.shape).encode())
    result.update(np.ascontiguousarray(X, dtype=np.float64).data)
    return result.hexdigest()
