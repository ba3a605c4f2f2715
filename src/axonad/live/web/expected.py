"""The expected band of every channel while a vehicle drives, from the other channels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from axonad.detector import Detector
from axonad.explain import Reference
from axonad.explain.relations import Relations

Array = NDArray[np.float64]

Expect = Callable[[Array], tuple[Array, Array]]
"""From rows in order of time to the low and high edge of each channel, NaN where not known."""

MOST_CHANNELS = 200  # with more, a band for each would take too long


def expect_of(detector: Detector) -> Expect | None:
    """Return the bands of a detector; None for one without a training sample, or a wide one."""
    reference = detector.reference_
    if reference is None or detector.n_features_in_ > MOST_CHANNELS:
        return None
    return Bands(reference)


class Bands:
    """Predicts each channel from all others, as explanations do where nothing is blamed."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference

    def __call__(self, values: Array) -> tuple[Array, Array]:
        """Return the low and high edge of each channel of rows that follow one another."""
        relations, weights, offset, band = self._regressions
        low = np.full(values.shape, np.nan)
        high = low.copy()
        reach = relations.features.reach
        if len(values) <= reach:
            return low, high
        features = relations.features_of(self._held(values))
        predicted = features @ weights + offset
        columns = list(range(values.shape[1]))
        low[reach:] = self.reference.unscale(predicted - band, columns)
        high[reach:] = self.reference.unscale(predicted + band, columns)
        return low, high

    @cached_property
    def _regressions(self) -> tuple[Relations, Array, Array, Array]:
        """Weights, offset and half band of all channels; made when first asked for."""
        relations = self.reference.relations
        found = [relations.predict((j,)) for j in range(self.reference.channels)]
        weights = np.concatenate([one.weights for one in found], axis=1)
        offset = np.concatenate([one.offset for one in found])
        return relations, weights, offset, np.concatenate([one.band for one in found])

    def _held(self, values: Array) -> Array:
        """Return rows with the last value in place of a missing one; at first, that of training."""
        known = np.isfinite(values)
        last = np.where(known, np.arange(len(values))[:, None], -1)
        last = np.maximum.accumulate(last, axis=0)
        held = np.take_along_axis(values, np.maximum(last, 0), axis=0)
        return np.where(last >= 0, held, self.reference.scaler.center)
