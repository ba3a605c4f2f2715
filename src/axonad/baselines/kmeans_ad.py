"""KMeansAD: how far a window is from the nearest of a few typical windows.

Yairi, Kato and Hori, "Fault detection by mining association rules from house-keeping data",
i-SAIRAS 2001, with the settings of TSB-AD. Where we differ: k-means sees a sample of at most
``max_train`` windows instead of all of them, and its seed is a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.baselines._clusters import distances, find_centers
from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_int
from axonad.data.frames import Matrix


@dataclass(kw_only=True, eq=False, repr=False)
class KMeansAD(WindowedDetector):
    """Distance of a window to the nearest cluster centre.

    Parameters
    ----------
    window, clusters
        Rows of a window; clusters of k-means.
    max_train
        Most windows k-means sees, drawn at random; None shows it all of them, which takes
        window x channels numbers each.
    seed
        Of k-means and of that draw.
    units, align
        See :mod:`axonad.baselines._windowed`; TSB-AD gives a step the mean over the windows that
        cover it.
    """

    window: int = 40
    clusters: int = 10
    max_train: int | None = 50_000
    seed: int = 2024
    align: str = "center"

    parity: ClassVar[Mapping[str, Any]] = {"align": "mean"}
    learned: ClassVar[tuple[str, ...]] = ("_centers",)

    def _learn(self, X: Matrix) -> None:
        train = self._take(X, self._choose(X, self.max_train, self.seed), np.float32)
        self._centers, _ = find_centers(
            train, clusters=self.clusters, seed=self.seed, user=type(self).__name__
        )

    def _window_score(self, windows: Values) -> Values:
        nearest: Values = distances(windows, self._centers).min(axis=1)
        return nearest

    def _check_params(self) -> None:
        super()._check_params()
        check_int("clusters", self.clusters, low=1)
        if self.max_train is not None:
            check_int("max_train", self.max_train, low=2)
        check_int("seed", self.seed, low=0, high=2**32 - 1)
