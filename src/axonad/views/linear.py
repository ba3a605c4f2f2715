"""The base of the linear views: each channel against a linear prediction, in held-out units."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_choice, check_int
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import fit_scaler
from axonad.data.windows import ALIGNMENTS, spread
from axonad.live_windows import LiveWindows
from axonad.modelfile import Arrays, take
from axonad.score.blame import withhold
from axonad.score.restoring import restore_scaler
from axonad.stretches import Parts
from axonad.views.held_out import Fold, fit_held_out, require_rows
from axonad.views.lagged_map import LaggedMap
from axonad.views.lagged_rows import blocks
from axonad.views.linear_live import LinearWindows
from axonad.views.moving_mean import moving_mean
from axonad.views.view import LastFold, View

Array = NDArray[np.float64]

FLOOR = 0.03  # smallest unit of a residual, in scaled values: finer differences are not faults
STILL = 0.1  # the same for a still channel: ten times a trifle, see data.scaling


class Expected(NamedTuple):
    """What a view expects of each channel in each row, in the units of the input.

    ``low`` and ``high`` are one unit of the score away: the size of a residual in training rows
    that were held out. The first rows, without enough rows before them, are NaN.
    """

    value: Array  # (rows, channels)
    low: Array
    high: Array


@dataclass(kw_only=True, eq=False, repr=False)
class LinearView(View):
    """Base of the linear views, with the parameters they share.

    The score is the mean deviation of a channel from its prediction over the last ``smooth`` rows,
    in units of its deviations in held-out training rows, of the channel where it is largest.
    """

    lags: int = 8
    smooth: int = 31
    align: str = "center"

    changeable: ClassVar[frozenset[str]] = frozenset({"align"})
    end_is_shift: ClassVar[bool] = False
    holds_out: ClassVar[bool] = True
    conditions: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    can_score_without: ClassVar[bool] = True
    fewest_lags: ClassVar[int] = 0

    @property
    def history(self) -> int:
        """Rows a score needs: those it averages, and those before the first of them."""
        return self.lags + self.smooth

    def expected(self, X: Any) -> Expected:
        """Return what each channel was expected to be, to compare with what it was."""

        def explain(rows: Matrix) -> Parts:
            return np.zeros(len(rows)), {}, self._expected(rows)

        found: Any = self._by_stretch(X, explain)[0][2]
        return Expected(*np.moveaxis(found, 1, 0))

    # -- what a view writes ------------------------------------------------------------------

    @abstractmethod
    def _solve(self, moments: Array, penalty: float, targets: int) -> Array:
        """Return the map from lagged rows with these moments to residuals of the first channels."""

    # -- the contract ------------------------------------------------------------------------

    def _learn(self, X: Matrix, names: Names) -> tuple[Array, LastFold | None]:
        count = self.recordings_.count(self.lags + 1)
        require_rows(type(self).__name__, count + self.lags, lags=self.lags)
        self._scaler = fit_scaler(X, "soft", names)
        self._level = np.zeros(X.shape[1])
        total = sum(self._scaled(X[a:b]).sum(axis=0) for a, b in blocks(0, len(X)))
        self._level = np.asarray(total / len(X))
        found = fit_held_out(
            lambda start, stop: self._scaled(X[start:stop]), self.recordings_, lags=self.lags,
            solve=self._solve, context=self.context_columns,  # an input, never a target
        )  # fmt: skip
        self._map = found.map
        self._spread = np.maximum(found.spread, np.where(self._scaler.still, STILL, FLOOR))
        scores = []
        for part in self.recordings_.parts:
            folds = [fold.earlier(part.start) for fold in found.folds if fold.within(part)]
            scores.append(self._aligned(self._largest(X[part], folds)))
        start, changes = found.last_fold.start, {"_map": found.last_fold.map}
        return np.concatenate(scores), LastFold(start, changes)

    def _score(self, X: Matrix) -> Array:
        return self._aligned(self._score_ends(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Array, dict[str, Array]]:
        return self._largest(X), {}

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows:
        """Return an object that scores streams row by row."""
        if isinstance(before, LinearWindows) and before.map is self._map:
            return before
        return LinearWindows(self._scaled, self._map, self._spread, smooth=self.smooth)

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        if not blame:
            scores = self._score(X)
            return scores, {"score": scores}, None
        channels = np.concatenate(list(self._smoothed(X)))
        scores = self._aligned(channels.max(axis=1))
        blamed = self._aligned(withhold(channels, X[self.lags :], self._scaler))
        return scores, {"score": scores}, blamed

    def _check_params(self) -> None:
        super()._check_params()
        check_int("lags", self.lags, low=self.fewest_lags)
        check_int("smooth", self.smooth, low=1)
        check_choice("align", self.align, ALIGNMENTS)

    # -- residuals ---------------------------------------------------------------------------

    def _scaled(self, X: Matrix) -> Array:
        """Return rows as the prediction sees them: softly scaled, with mean 0 in training."""
        return np.asarray(self._scaler.apply(X) - self._level)

    def _largest(self, X: Matrix, folds: Sequence[Fold] = ()) -> Array:
        return np.concatenate([part.max(axis=1) for part in self._smoothed(X, folds)])

    def _smoothed(self, X: Matrix, folds: Sequence[Fold] = ()) -> Iterator[Array]:
        """Yield each channel's mean deviation over windows of ``smooth`` rows, block by block."""
        kept = np.empty((0, X.shape[1]))
        for part in self._deviations(X, folds):
            known = np.concatenate([kept, part])
            kept = known[max(0, len(known) - self.smooth + 1) :]
            if len(known) >= self.smooth:
                yield moving_mean(known, self.smooth)

    def _deviations(self, X: Matrix, folds: Sequence[Fold]) -> Iterator[Array]:
        """Yield each channel's deviation from its prediction, in its unit, block by block."""
        pieces = [(part.start, part.stop, part.map) for part in folds]
        for start, stop, found in pieces or [(self.lags, len(X), self._map)]:
            for a, b in blocks(start, stop):
                residuals = found.residuals(self._scaled(X[a - self.lags : b]))
                yield np.abs(residuals) / self._spread

    def _expected(self, X: Matrix) -> Array:
        """Return expected value, low and high (rows, 3, channels)."""
        result = np.full((len(X), 3, X.shape[1]), np.nan)
        for a, b in blocks(self.lags, len(X)):
            rows = self._scaled(X[a - self.lags : b])
            scaled = rows[self.lags :] - self._map.residuals(rows) + self._level
            for i, shift in enumerate((0.0, -1.0, 1.0)):
                result[a:b, i] = self._scaler.invert(scaled + shift * self._spread)
        return result

    def _aligned(self, values: Array) -> Array:
        """Return one value per row: that of the ``smooth`` rows around or before it."""
        placed = spread(values, window=self.smooth, align=self.align)
        return np.concatenate([np.repeat(placed[:1], self.lags, axis=0), placed])

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {"center": self._scaler.center, "unit": self._scaler.unit, "level": self._level}
        return {}, arrays | self._map.to_arrays() | {"spread": self._spread}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self._scaler = restore_scaler("soft", arrays, "center", "unit", channels=channels)
        self._level = take(arrays, "level", channels)
        self._map = LaggedMap.from_arrays(arrays, lags=self.lags, channels=channels)
        self._spread = take(arrays, "spread", channels, above=0)
