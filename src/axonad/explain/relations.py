"""What the channels say about each other: ridge regressions of any of them on any others.

All regressions follow from the second moments of the features of four fifths of the sample. How
well they hold is measured on the other fifth: whole blocks of rows, spread over the recording.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from axonad.explain.choosing import choose, residual_map
from axonad.explain.features import Features

if TYPE_CHECKING:
    from axonad.explain.reference import Reference

Array = NDArray[np.float64]

BLOCKS = 40  # about; every fifth is held out
HELD_ROWS = 2_000  # held-out rows that errors are measured on, about
MOST_GIVEN = 3  # channels of a relation that predict another one
GAIN = 0.15  # share of the variance left that one more of them must explain
CANDIDATES = 40  # channels tried as predictors, those most correlated
FLOOR = 0.003  # smallest error of a channel, in scaled values: finer differences are not faults
STILL = 0.1  # the same for a channel that did not move in training
WIDTHS = (8, 32, 128)  # rows over which usual errors are averaged
USUAL = 0.95  # share of such averages that count as usual
LEAST_BEFORE = 40  # rows before an event that tell how far channels deviated already
LEAST = 0.25  # smallest weight of a channel that the others do not explain
CACHED = 2**25  # values of regressions kept


@dataclass(frozen=True)
class Residuals:
    """The map from features to the residuals of all channels but some, each given the others.

    ``usual`` are mean squared residuals over windows of ``WIDTHS`` rows that held-out rows seldom
    exceed, ``size`` the root mean squares of all held-out residuals. Values of the channels that
    are left out are 0 and 1.
    """

    map: Array  # (features, channels)
    usual: Array  # (widths, channels)
    size: Array  # (channels,)


@dataclass(frozen=True)
class Prediction:
    """Regression of some channels on channels that are not among them.

    ``size`` is the root mean square of held-out residuals, ``band`` what one in twenty exceeds,
    ``memory`` the share of a residual that is left after one more row, ``step`` the root mean
    square of the difference of two residuals that follow one another.
    """

    targets: tuple[int, ...]
    weights: Array  # (features, targets)
    offset: Array  # (targets,)
    size: Array
    band: Array
    memory: Array
    explained: Array  # share of the variance of held-out rows, at most 1
    step: Array


class Relations:
    """Regressions among the channels of a reference."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        pieces = [piece.astype(np.float64) for piece in reference.pieces]
        self.features, self.penalty = choose(pieces, len(reference.rows) * 4 // 5)
        learned, held = _split(pieces, self.features)
        mean = sum(part.sum(axis=0) for part in learned) / sum(map(len, learned))
        self.mean: Array = np.asarray(mean)
        self.moments = np.zeros((self.features.count, self.features.count))
        for part in learned:
            centred = part - self.mean
            self.moments += centred.T @ centred
        self.moments /= sum(map(len, learned))
        thin = max(1, sum(map(len, held)) // HELD_ROWS)
        self._held = [part - self.mean for part in held[::thin]]
        still = reference.scaler.still
        self._floor = np.where(still, STILL, FLOOR)
        self._tied: dict[int, tuple[int, ...]] = {}
        self._cache: OrderedDict[tuple[int, ...], Residuals] = OrderedDict()

    def features_of(self, X: Array) -> Array:
        """Return the centred features of rows in units of the input, ``reach`` rows fewer."""
        return self.features.of(self.reference.scale(X)) - self.mean

    def contradictions(self, features: Array, before: Array | None = None) -> Array:
        """Return how much the channels of each row contradict each other.

        It is the largest squared residual of a channel given all others, in its usual size, and in
        units that one held-out row in fifty exceeds. ``before`` are rows before the event.
        """
        found = self.residuals(())
        judged = [j for j in range(self.features.channels) if j not in self.reference.context]

        def largest(part: Array, usual: Array) -> Array:
            return np.asarray((np.square(part @ found.map) / usual)[:, judged].max(axis=1))

        held = [largest(part, found.usual[0]) for part in self._held]
        level = max(float(np.quantile(np.concatenate(held), 0.98)), 1.0)
        usual = np.maximum(found.usual[0], power_before(found.map, before))
        return largest(features, usual) / level

    @cached_property
    def weights(self) -> Array:
        """How much a contradiction of each channel counts: the share that the others explain."""
        variance = np.concatenate(self._held)[:, : self.features.channels].var(axis=0)
        left = np.square(self.residuals(()).size) / np.maximum(variance, 1e-12)
        weights = np.maximum(1.0 - left, LEAST)
        return np.where(self.reference.scaler.still, 1.0, weights)

    def tied_to(self, channel: int) -> tuple[int, ...]:
        """Return the channels that best predict a channel together, strongest first."""
        if channel not in self._tied:
            self._tied[channel] = find_predictors(self, channel)
        return self._tied[channel]

    # -- all channels but some, each given the others ------------------------------------------

    def residuals(self, left_out: tuple[int, ...]) -> Residuals:
        """Return the residuals of all channels that are not left out, each given the others."""
        key = tuple(sorted(left_out))
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._find_residuals(key)
            while len(self._cache) * found.map.size > CACHED and len(self._cache) > 1:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return found

    def _find_residuals(self, left_out: tuple[int, ...]) -> Residuals:
        found = residual_map(self.moments, self.features, penalty=self.penalty, left_out=left_out)
        return Residuals(found, *self._measure(found))

    def _measure(self, weights: Array) -> tuple[Array, Array]:
        """Return usual window means and root mean square of squared held-out residuals."""
        squares = [np.square(part @ weights) for part in self._held]
        size = np.sqrt(np.concatenate(squares).mean(axis=0))
        usual = []
        for width in WIDTHS:
            means = [_window_means(part, width) for part in squares]
            usual.append(np.quantile(np.concatenate(means), USUAL, axis=0))
        least = np.square(self._floor)
        return np.maximum(np.array(usual), least), np.maximum(size, self._floor)

    # -- some channels given others ------------------------------------------------------------

    def predict(self, targets: tuple[int, ...], given: tuple[int, ...] | None = None) -> Prediction:
        """Return the regression of ``targets`` on other channels, by default all of them."""
        mask = ~self.features.touching(targets)
        if given is not None:
            mask &= self.features.within(given)
        used = np.flatnonzero(mask)
        weights = np.zeros((self.features.count, len(targets)))
        if len(used):
            system = self.moments[np.ix_(used, used)] + self.penalty * np.eye(len(used))
            weights[used] = np.linalg.solve(system, self.moments[used][:, list(targets)])
        columns = list(targets)
        actual = [part[:, columns] for part in self._held]
        left = [own - part @ weights for own, part in zip(actual, self._held, strict=True)]
        joined = np.concatenate(left)
        size = np.sqrt(np.square(joined).mean(axis=0))
        total = np.maximum(np.concatenate(actual).var(axis=0), 1e-12)
        floor = self._floor[columns]
        return Prediction(
            tuple(targets), weights, self.mean[columns],
            size=np.maximum(size, floor),
            band=np.maximum(np.quantile(np.abs(joined), 0.95, axis=0), floor),
            memory=_memory(left),
            explained=np.clip(1.0 - np.square(size) / total, 0.0, 1.0),
            step=np.maximum(_step(left), floor),
        )  # fmt: skip

    def held_out(self, prediction: Prediction) -> tuple[Array, Array]:
        """Return predicted and actual held-out rows (rows, targets), in scaled units."""
        rows = np.concatenate(self._held)
        predicted = rows @ prediction.weights + prediction.offset
        return predicted, rows[:, list(prediction.targets)] + prediction.offset

    def variance_left(self, target: int, given: tuple[int, ...]) -> float:
        """Return the variance of a channel that a regression on some others leaves."""
        used = np.flatnonzero(self.features.within(given) & ~self.features.touching((target,)))
        cross = self.moments[used, target]
        system = self.moments[np.ix_(used, used)] + self.penalty * np.eye(len(used))
        return float(self.moments[target, target] - cross @ np.linalg.solve(system, cross))


def power_before(weights: Array, before: Array | None) -> Array:
    """Return the mean squared residuals of the channels in rows before an event.

    Of the means of four quarters the second smallest counts: another fault shortly before does not
    excuse this one.
    """
    if before is None or len(before) < LEAST_BEFORE:
        return np.zeros(weights.shape[1])
    quarters = np.array_split(np.square(before @ weights), 4)
    return np.asarray(np.sort([part.mean(axis=0) for part in quarters], axis=0)[1])


def find_predictors(
    relations: Relations, target: int, suspects: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return up to three channels that best predict ``target`` together, strongest first.

    Suspects are never among them. At least one is returned if there is one.
    """
    now = np.arange(relations.features.channels)
    moments = relations.moments[np.ix_(now, now)]
    power = np.maximum(np.diag(moments), 1e-12)
    close = np.abs(moments[target]) / np.sqrt(power)
    close[[target, *suspects]] = -1.0
    order = np.argsort(-close, kind="stable")[:CANDIDATES].tolist()
    free = [j for j in order if close[j] >= 0]
    chosen: tuple[int, ...] = ()
    left = float(moments[target, target])
    while free and len(chosen) < MOST_GIVEN:
        tried = [(relations.variance_left(target, (*chosen, j)), j) for j in free]
        best, j = min(tried)
        if chosen and best > (1.0 - GAIN) * left:
            break
        chosen, left = (*chosen, j), best
        free.remove(j)
    return chosen


def _split(pieces: list[Array], features: Features) -> tuple[list[Array], list[Array]]:
    """Return the features of the rows to learn from and of those held out, block by block."""
    total = sum(len(piece) for piece in pieces)
    size = max(total // BLOCKS, 2 * features.reach + 2)
    learned: list[Array] = []
    held: list[Array] = []
    count = 0
    for piece in pieces:
        if len(piece) <= features.reach:
            continue
        rows = features.of(piece)
        for start in range(0, len(rows), size):
            (held if count % 5 == 2 else learned).append(rows[start : start + size])
            count += 1
    return learned, held or learned


def _window_means(values: Array, width: int) -> Array:
    """Return means over windows of ``width`` rows, or over all if there are fewer."""
    width = min(width, len(values))
    sums = np.cumsum(np.concatenate([np.zeros((1, values.shape[1])), values]), axis=0)
    step = max(1, width // 4)
    return np.asarray((sums[width:] - sums[:-width])[::step] / width)


def _step(left: list[Array]) -> Array:
    """Return the root mean square of the differences of consecutive residuals."""
    steps = np.concatenate([np.diff(part, axis=0) for part in left])
    return np.sqrt(np.square(steps).mean(axis=0)) if len(steps) else np.zeros(steps.shape[1])


def _memory(left: list[Array], apart: int = 10) -> Array:
    """Return the share of a residual that is left after one row, from rows ``apart``."""
    pairs = [(part[:-apart], part[apart:]) for part in left if len(part) > apart]
    if not pairs:
        return np.zeros(left[0].shape[1])
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    power = np.maximum(np.square(before).mean(axis=0), 1e-12)
    kept = np.clip((before * after).mean(axis=0) / power, 0.0, 0.999)
    return np.asarray(kept ** (1.0 / apart))
