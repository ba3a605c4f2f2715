"""KMeansAD: distance of a window to the nearest cluster centre of the training windows.

Yairi, Kato and Hori, "Fault detection by mining association rules from house-keeping data",
i-SAIRAS 2001, with the settings of TSB-AD. Where we differ: k-means is fitted on a sample of at
most ``max_train`` windows, and its seed is a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.baselines._kmeans import distances, find_centers
from axonad.baselines._windowed import Values, WindowedDetector, check_sampling
from axonad.config import check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes


@dataclass(kw_only=True, eq=False, repr=False)
class KMeansAD(WindowedDetector):
    """Distance of a window to the nearest cluster centre.

    Parameters
    ----------
    window, clusters
        Rows per window; number of clusters.
    max_train
        Maximum number of windows to fit k-means on, drawn at random; None uses all, which needs
        memory for window x channels values each.
    seed
        Seed of k-means and of that draw.
    units, align
        See :mod:`axonad.baselines._windowed`; TSB-AD uses ``align="mean"``.
    """

    window: int = 40
    clusters: int = 10
    max_train: int | None = 50_000
    seed: int = 2024

    parity: ClassVar[Mapping[str, Any]] = {"align": "mean"}
    learned: ClassVar[Shapes] = {"_centers": ("clusters", "values")}

    def _learn(self, X: Matrix) -> None:
        train = self._gather(X, self._sample_starts(self.max_train, self.seed), np.float32)
        self._centers, _ = find_centers(
            train, clusters=self.clusters, seed=self.seed, user="KMeansAD"
        )

    def _window_score(self, windows: Values) -> Values:
        return np.asarray(distances(windows, self._centers).min(axis=1))

    def _check_learned(self) -> None:
        if not len(self._centers):
            raise ValueError("it has no cluster")

    def _check_params(self) -> None:
        super()._check_params()
        check_int("clusters", self.clusters, low=1)
        check_sampling(self.max_train, self.seed, high=2**32 - 1)
