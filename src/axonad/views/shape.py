"""ShapeMemory: distance of a window's shape to the nearest shape seen in training.

The mean of each channel within a window is subtracted, because offsets drift where shapes do not,
and the window is compared with training windows. Windows of several lengths are compared, each with
all steps counting alike and again weighted by the square root of a Hann window, which counts the
steps around its middle. The distance is Euclidean between windows described by their leading
principal coordinates and the length of the rest; see :mod:`axonad.views.shape_space`. At most
``max_train`` training windows are kept, and a window is compared with some 2,000 of them, those of
the cells around it, however many rows training had; see :mod:`axonad.views.shape_search`.

**Units.** Training is cut into five stretches, and each window of one is compared with windows of
the others that lie at least a window away. These held-out distances give each part (a length and a
weighting) its unit: (distance - median) / (99 % quantile - median), as log(1 + positive part). The
score is the mean over the parts, and the threshold comes from held-out scores too. Of a series with
more than 100,000 windows so many, evenly spaced, are compared (:mod:`axonad.views.shape_part`).

**Which step gets a score.** With ``align="end"`` and on a stream, all windows end at the step they
score; the first score needs the longest of them. With ``align="center"`` each length is placed at
its own centre. Both are the same values of each part, shifted by its own length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_choice, check_int, check_ints
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.scaling import Scaler, fit_scaler
from axonad.data.windows import ALIGNMENTS, spread
from axonad.live_windows import LiveWindows
from axonad.modelfile import Arrays, check_counts, take
from axonad.score.blame import withhold
from axonad.score.restoring import restore_scaler
from axonad.stretches import Parts
from axonad.training_data import TrainingData
from axonad.views.shape_lengths import FEWEST, lengths_for_most, rows_needed, window_lengths
from axonad.views.shape_live import ShapeWindows
from axonad.views.shape_part import TINY, LearnedPart, ShapePart, learn_parts
from axonad.views.shape_search import Cells, Values
from axonad.views.shape_space import ShapeSpace, blocks_of, describe, hann_root
from axonad.views.view import LastFold, View

LARGE = 1e20  # larger distances are damage
LONGEST = 1.001  # of a direction, which has length 1
TESTED = 2  # lengths in tests of rows that were held out
WEIGHTINGS = 2  # of the steps of a window: all alike, and the root of a Hann window


@dataclass(kw_only=True, eq=False, repr=False)
class ShapeMemory(View):
    """Distance of a window's shape to the nearest one in training, over several lengths.

    Parameters
    ----------
    lengths
        Window lengths. None takes the dominant period of the training series, one and a half of it,
        64 and 128, as far as training is longer than two windows and 20 rows.
    directions
        Principal directions by which a window is described.
    max_train
        Maximum number of training windows to keep per length, evenly spaced.
    align
        ``"center"`` of a window (best for recorded data) or its ``"end"`` (as in a live system).
    device
        Where the nearest windows are searched: ``"cpu"``, which needs no torch, ``"cuda"``, or
        ``"auto"`` for a GPU if there is one. Live rows are always scored on the CPU.
    """

    lengths: tuple[int, ...] | None = None
    directions: int = 16
    max_train: int = 46_000
    align: str = "center"
    device: str = "cpu"

    changeable = frozenset({"align", "device"})
    end_is_shift = False
    divides = True
    can_score_without = True
    holds_out = True

    @property
    def history(self) -> int:
        """Rows a score needs: the longest window; before ``fit``, rows needed for training."""
        if self.lengths is not None:
            return max(self.lengths)
        return max(getattr(self, "lengths_", (rows_needed(FEWEST),)))

    def training_data(self, X: Any) -> TrainingData:
        """Return ``X``, one series or several recordings, as rows to learn from."""
        before = vars(self).pop("lengths_", None)  # lengths of an earlier fit do not matter
        try:
            return super().training_data(X)
        finally:
            if before is not None:
                self.lengths_ = before

    def rows_needed(self, X: Matrix, recordings: Recordings) -> int:
        """Return how many rows the shortest stretch of some training data must have."""
        if self.lengths is not None:
            return max(self.lengths)
        scaler = fit_scaler(X, "soft")
        lengths = lengths_for_most(_moving(scaler.apply(X), scaler), recordings)
        return max(lengths, default=rows_needed(FEWEST))

    # -- learning ----------------------------------------------------------------------------

    def _learn(self, X: Matrix, names: Names) -> tuple[Values, LastFold | None]:
        self._scaler = fit_scaler(X, "soft", names)
        Z = self._scaler.apply(X)
        self.lengths_ = self.lengths or window_lengths(_moving(Z, self._scaler), self.recordings_)
        learned: list[LearnedPart] = []
        for length in self.lengths_:
            learned += learn_parts(
                Z, (np.ones(length), hann_root(length)), self.recordings_,
                directions=self.directions, most=self.max_train, device=self.device,
            )  # fmt: skip
        self._parts = [each.part for each in learned]
        scores = [each.part.score(each.distances) for each in learned]
        return self._combined(scores, self.recordings_), self._last_fold(learned)

    def _last_fold(self, learned: Sequence[LearnedPart]) -> LastFold | None:
        """Return the last fold, with the shortest lengths only: tests have little room."""
        lengths = self.lengths_[:TESTED]
        parts = [each.before_last for each in learned[: WEIGHTINGS * len(lengths)]]
        if any(part is None for part in parts):
            return None
        start = max(each.last_start for each in learned[: len(parts)])
        return LastFold(start, {"lengths": lengths, "lengths_": lengths, "_parts": parts})

    # -- scoring -----------------------------------------------------------------------------

    def _score(self, X: Matrix) -> Values:
        return self._combined(self._part_scores(X))

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        return np.mean(self._part_scores(X, ends=True), axis=0), {}

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows:
        """Return an object that scores streams row by row."""
        if isinstance(before, ShapeWindows) and before.parts is self._parts:
            return before
        return ShapeWindows(self._scaler, self._parts)

    def _part_scores(self, X: Matrix, *, ends: bool = False) -> list[Values]:
        """Return the score of each window of each part.

        With ``ends`` only of windows that end at rows with their full history.
        """
        Z = self._scaler.apply(X)
        scores = []
        for i, length in enumerate(self.lengths_):
            rows = Z[self.history - length :] if ends else Z
            parts = self._parts[WEIGHTINGS * i : WEIGHTINGS * (i + 1)]
            found = describe(rows, length, [part.space for part in parts])
            scores += [
                part.score(part.memory.nearest(points, device=self.device)[0])
                for part, points in zip(parts, found, strict=True)
            ]
        return scores

    def _combined(self, scores: list[Values], recordings: Recordings | None = None) -> Values:
        """Return the mean over the parts at each step; by default of one series."""
        if recordings is None:
            recordings = Recordings.one(len(scores[0]) + self._parts[0].length - 1)
        placed = []
        for values, part in zip(scores, self._parts, strict=True):
            place = partial(spread, window=part.length, align=self.align)
            placed.append(recordings.place(place, values, part.length))
        return np.asarray(np.mean(placed, axis=0))

    # -- explaining --------------------------------------------------------------------------

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        if not blame:
            return super()._explain(X, blame=False)
        Z = self._scaler.apply(X)
        scores: list[Values] = []
        total, moved = np.zeros(X.shape), np.zeros(X.shape, dtype=bool)
        for part in self._parts:
            points = describe(Z, part.length, [part.space])[0]
            distances, index = part.memory.nearest(points, device=self.device)
            scores.append(part.score(distances))
            shares = np.empty((len(index), X.shape[1]))
            for rows, windows in blocks_of(Z, part.length, np.arange(len(index))):
                channels = part.space.channel_distances(windows, part.memory.points[index[rows]])
                shares[rows] = channels / np.maximum(channels.sum(axis=1, keepdims=True), TINY)
            mine = withhold(shares * scores[-1][:, None], X, self._scaler)
            mine = spread(mine, window=part.length, align=self.align)
            total += np.where(np.isfinite(mine), mine, 0) / len(self._parts)
            moved |= np.isfinite(mine)
        combined = self._combined(scores)
        return combined, {"score": combined}, np.where(moved, total, -np.inf)

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"center": self._scaler.center, "unit": self._scaler.unit}
        for i, part in enumerate(self._parts):
            arrays[f"directions.{i}"] = part.space.directions
            arrays[f"memory.{i}"] = part.memory.points.astype(np.float32)  # it holds only such
            if part.memory.is_divided:
                arrays[f"cells.{i}"] = part.memory.bounds
        levels = np.array([(part.median, part.unit) for part in self._parts])
        arrays |= {"median": levels[:, 0], "part_unit": levels[:, 1]}
        return {"lengths": list(self.lengths_)}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self._scaler = restore_scaler("soft", arrays, "center", "unit", channels=channels)
        lengths = tuple(check_counts("lengths", values["lengths"]))
        if not lengths or min(lengths) < 2 or self.lengths not in (None, lengths):
            raise ValueError(f"its lengths {list(lengths)!r:.60} cannot be used")
        self.lengths_ = lengths
        weightings = [make(n) for n in lengths for make in (np.ones, hann_root)]
        median = take(arrays, "median", len(weightings), low=0, high=LARGE)
        unit = take(arrays, "part_unit", len(weightings), low=TINY, high=LARGE)
        self._parts = []
        for i, weights in enumerate(weightings):
            width = len(weights) * channels
            directions = take(arrays, f"directions.{i}", None, width, low=-LONGEST, high=LONGEST)
            memory = take(arrays, f"memory.{i}", None, len(directions) + 1).astype(np.float64)
            if not len(memory):
                raise ValueError("it has no training windows")
            cells = Cells.undivided(memory)
            if f"cells.{i}" in arrays:  # not in models of 0.2.0
                cells = Cells(memory, take(arrays, f"cells.{i}", None, whole=True))
                cells.check()
            space = ShapeSpace(weights, directions)
            self._parts.append(ShapePart(space, cells, float(median[i]), float(unit[i])))

    def _check_params(self) -> None:
        super()._check_params()
        if self.lengths is not None:
            check_ints("lengths", self.lengths)
            for length in self.lengths:
                check_int("lengths", length, low=2)
        check_int("directions", self.directions, low=1)
        check_int("max_train", self.max_train, low=2)
        check_choice("align", self.align, ALIGNMENTS)


def _moving(Z: NDArray[np.floating], scaler: Scaler) -> NDArray[np.floating]:
    """Return the scaled channels that move, all if none does."""
    moving = ~scaler.still
    return Z[:, moving] if moving.any() else Z
