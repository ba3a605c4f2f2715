"""The base of the classical baselines: a function that scores one window at a time.

A window is ``window`` rows flattened to one vector, channel after channel; with ``window=1`` it is
a row. A detector's own file learns from windows (:meth:`~WindowedDetector._learn`) and scores a
batch of them (:meth:`~WindowedDetector._window_score`). Units, batches and alignment are handled
here. Windows are gathered in batches or as a sample; no array of all windows exists.

Units of the values in a window:

===========  ======================================================================================
``"own"``    each window standardised by the mean and deviation of all its values, channels mixed
             (TSB-AD): only the shape across channels is left, and a row times two looks the same.
             A series of one channel uses ``"train"``: a single value would always become zero
``"train"``  each channel by its training mean and deviation
``"soft"``   the same with a floor, and large values compressed; see :mod:`axonad.data.scaling`
``"raw"``    no scaling
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
from axonad.modelfile import Arrays, Shapes, take
from axonad.score.restoring import restore_scaler

UNITS = ("own", "train", "soft", "raw")
PLACEMENTS = (*ALIGNMENTS, "mean")
BATCH_VALUES = 2_000_000  # values in a batch of windows

Values = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class WindowedDetector(Detector):
    """Base of the classical baselines, with the parameters they share.

    Parameters
    ----------
    window
        Rows that are scored together; 1 scores each row by itself.
    units
        How values are scaled: ``"own"`` each window by mean and deviation of all its values (as in
        TSB-AD), ``"train"`` each channel by its training mean and deviation, ``"soft"`` the same
        with large values compressed, ``"raw"`` not at all; see this module.
    align
        The row that gets a window's score: its ``"center"`` or ``"end"``; or ``"mean"``: each row
        gets the mean over all windows that contain it.
    """

    window: int = 1
    units: str = "own"
    align: str = "center"

    changeable: ClassVar[frozenset[str]] = frozenset({"align"})
    divides: ClassVar[bool] = True
    learned: ClassVar[Shapes] = {}
    """The arrays ``_learn`` sets, which are saved, and their shapes.

    Keys are attribute names, with a leading underscore. An axis has a fixed length or a name, which
    stands for the same length in all arrays; ``"values"`` is the length of a window's vector.
    """

    @property
    def history(self) -> int:
        """Rows a score needs: one window."""
        return self.window

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _learn(self, X: Matrix) -> Values | None:
        """Learn from the windows of ``X``; return their scores if scoring ``X`` would differ.

        :meth:`_training_batches`, :meth:`_training_starts` and :meth:`_sample_starts` give windows
        that lie within one recording.
        """

    @abstractmethod
    def _window_score(self, windows: Values) -> Values:
        """Return one score per window (first axis)."""

    def _check_learned(self) -> None:
        """Raise ValueError if loaded arrays, of the right shapes, could not have been learned."""

    # -- the contract ------------------------------------------------------------------------

    def _fit(self, X: Matrix, names: Names) -> Values | None:
        rule = "train" if self.units == "own" and X.shape[1] == 1 else self.units
        self._scaler: Scaler | None = None
        if rule in ("train", "soft"):
            self._scaler = fit_scaler(X, rule, names)
        ends = self._learn(X)
        return None if ends is None else self.recordings_.place(self._aligned, ends, self.window)

    def _score(self, X: Matrix) -> Values:
        return self._aligned(self._score_ends(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        return np.concatenate([self._window_score(batch) for batch in self._batches(X)]), {}

    def _aligned(self, ends: Values) -> Values:
        if self.align == "mean":
            return mean_over_windows(ends, window=self.window)
        return spread(ends, window=self.window, align=self.align)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("window", self.window, low=1)
        check_choice("units", self.units, UNITS)
        check_choice("align", self.align, PLACEMENTS)

    # -- windows -----------------------------------------------------------------------------

    def _training_batches(self, X: Matrix) -> Iterator[Values]:
        """Yield the windows of the training rows in order, in batches."""
        for part in self.recordings_.parts:
            yield from self._batches(X[part])

    def _training_starts(self) -> NDArray[np.int64]:
        """Return the row at which each training window begins."""
        return self.recordings_.starts(self.window)

    def _batches(self, X: Matrix) -> Iterator[Values]:
        """Yield the windows of ``X`` in order, in batches."""
        size = max(1, BATCH_VALUES // (self.window * X.shape[1]))
        count = count_windows(len(X), self.window)
        for start in range(0, count, size):
            stop = min(start + size, count)
            rows = self._rescale(X[start : stop + self.window - 1])
            yield self._flatten(sliding_window_view(rows, self.window, axis=0))

    def _gather(self, X: Matrix, starts: NDArray[np.integer], dtype: Any = np.float64) -> Values:
        """Return the windows that begin at the given rows."""
        channels = X.shape[1]
        windows: Values = np.empty((len(starts), self.window * channels), dtype=dtype)
        size = max(1, BATCH_VALUES // windows.shape[1])
        for i in range(0, len(starts), size):
            places = starts[i : i + size, None] + np.arange(self.window)
            rows = self._rescale(X[places.ravel()]).reshape(*places.shape, channels)
            windows[i : i + size] = self._flatten(rows.swapaxes(1, 2))
        return windows

    def _sample_starts(self, most: int | None, seed: int) -> NDArray[np.int64]:
        """Return the first rows of up to ``most`` training windows, drawn at random and sorted."""
        starts = self._training_starts()
        if most is None or len(starts) <= most:
            return starts
        draw = np.random.default_rng(seed).choice(len(starts), most, replace=False)
        return starts[np.sort(draw)]

    def _rescale(self, X: Matrix) -> Values:
        return np.asarray(X if self._scaler is None else self._scaler.apply(X), dtype=np.float64)

    def _flatten(self, windows: Values) -> Values:
        """Return windows (n, channels, window) as vectors, standardised with ``units="own"``."""
        flat = windows.reshape(len(windows), -1)
        if self.units == "own" and self._scaler is None:
            return standardise_own(flat, is_row=self.window == 1)
        return np.ascontiguousarray(flat)

    def _require_windows(self, least: int) -> None:
        if self.recordings_.count(self.window) < least:
            raise InputError(
                f"{type(self).__name__} with window={self.window} needs at least "
                f"{self.window + least - 1} training rows, got {self.recordings_.rows}"
            )

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {name.removeprefix("_"): getattr(self, name) for name in self.learned}
        if self._scaler is not None:
            arrays |= {"scaler.center": self._scaler.center, "scaler.unit": self._scaler.unit}
        return {}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self._scaler = None
        if "scaler.center" in arrays:
            rule = "soft" if self.units == "soft" else "train"
            self._scaler = restore_scaler(rule, arrays, channels=channels)
        lengths = {"values": self.window * channels}
        for name, shape in self.learned.items():
            array = take(arrays, name.removeprefix("_"), *shape, lengths=lengths)
            setattr(self, name, array)
        self._check_learned()


def standardise_own(windows: Values, *, is_row: bool) -> Values:
    """Return each window minus its mean, over its deviation; zeros where it is constant.

    The order of summation matters: rows that differ only by rounding become copies that differ in
    their last digits, and some detectors rank such copies. Ours is the order of the published runs:
    channel by channel for rows, numpy's default for longer windows.
    """
    windows = np.require(windows, requirements="F" if is_row else "C")
    mean = windows.mean(axis=1, keepdims=True)
    deviation = windows.std(axis=1, ddof=1, keepdims=True)
    flat = windows.max(axis=1, keepdims=True) == windows.min(axis=1, keepdims=True)
    result: Values = (windows - mean) / np.where(flat | (deviation == 0), np.inf, deviation)
    return np.ascontiguousarray(result)


def mean_over_windows(ends: Values, *, window: int) -> Values:
    """Return for each row the mean score of the windows that contain it.

    >>> mean_over_windows(np.array([1.0, 3.0]), window=2).tolist()
    [1.0, 2.0, 3.0]
    """
    total = np.concatenate([[0.0], np.cumsum(ends)])
    step = np.arange(len(ends) + window - 1)
    first, end = np.maximum(step - window + 1, 0), np.minimum(step + 1, len(ends))
    return np.asarray((total[end] - total[first]) / (end - first))


def check_sampling(max_train: int | None, seed: int, *, high: int | None = None) -> None:
    """Raise ConfigError unless ``max_train`` is None or at least 2, and ``seed`` in [0, high]."""
    if max_train is not None:
        check_int("max_train", max_train, low=2)
    check_int("seed", seed, low=0, high=high)


def digest(X: Matrix) -> str:
    """Return a hash that identifies the array a detector was fitted on."""
    result = hashlib.sha256(repr(X.shape).encode())
    result.update(np.ascontiguousarray(X, dtype=np.float64).data)
    return result.hexdigest()
