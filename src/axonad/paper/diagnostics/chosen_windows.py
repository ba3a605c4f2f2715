"""The windows that the authors' script analyses: all of a series, or a sample of 6,000.

A window is a training window if its last step lies in the training part, otherwise a test window;
so the first test windows begin before the training part ends. A window is anomalous if it contains
a labelled step. A sample is half normal training windows and a quarter anomalous test windows, as
far as there are so many, and normal test windows for the rest. If these are too few, windows evenly
spaced over the series and then any others fill it up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.paper.diagnostics.measure import contains_label

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
MOST = 6000  # windows of a series
ENOUGH = 50  # normal training windows; with fewer, all training windows are the reference
LEARNED = 3000  # windows that predictors are trained on, at most


class ChosenWindows(NamedTuple):
    """The first step of every chosen window, whether it is a training window, and anomalous."""

    starts: Places
    training: Mask
    anomalous: Mask

    @property
    def reference(self) -> Mask:
        """The windows whose median and IQR standardise scores: normal ones of the training part."""
        normal: Mask = self.training & ~self.anomalous
        return normal if normal.sum() >= ENOUGH else self.training

    def learned(self, seed: int) -> Places:
        """Return which windows predictors are trained on: of the reference, a sample if needed."""
        places = np.flatnonzero(self.reference)
        if places.size > LEARNED:
            places = np.random.default_rng(seed).choice(places, LEARNED, replace=False)
        return np.sort(places)


def choose_windows(
    labels: NDArray[np.int8], *, window: int, train_steps: int, seed: int, most: int = MOST
) -> ChosenWindows:
    """Return the windows to analyse of a whole series, in order."""
    anomalous = contains_label(labels, window)
    training = np.arange(window - 1, len(labels)) < train_steps
    starts = np.arange(anomalous.size)
    if starts.size > most:
        starts = _sample(training, anomalous, most, np.random.default_rng(seed))
    return ChosenWindows(starts, training[starts], anomalous[starts])


def _sample(training: Mask, anomalous: Mask, most: int, rng: np.random.Generator) -> Places:
    chosen: list[Places] = []
    left = most
    for members, share in (
        (training & ~anomalous, most // 2),
        (~training & anomalous, most // 4),
        (~training & ~anomalous, most),
    ):
        places = np.flatnonzero(members)
        chosen.append(rng.choice(places, min(share, left, places.size), replace=False))
        left -= chosen[-1].size
    chosen.append(np.linspace(0, training.size - 1, left).astype(np.intp))
    found = np.unique(np.concatenate(chosen))
    others = np.setdiff1d(np.arange(training.size), found)
    more = rng.choice(others, most - found.size, replace=False)
    return np.sort(np.concatenate([found, more]))
