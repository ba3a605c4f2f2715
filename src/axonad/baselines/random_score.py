"""RandomScore: uniform random scores, the chance level for every table.

Kim et al., "Towards a rigorous evaluation of time-series anomaly detection", AAAI 2022, show that
some metrics reward random scores; a table that lists RandomScore reveals it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from axonad.baselines._windowed import Values
from axonad.config import check_int
from axonad.data.frames import Matrix, Names
from axonad.detector import Detector
from axonad.modelfile import Arrays


@dataclass(kw_only=True, eq=False, repr=False)
class RandomScore(Detector):
    """One uniform random number per row, determined by row number and seed.

    A stream has no row numbers; there the number is determined by the row's values and the seed.

    Parameters
    ----------
    seed
        Random seed.
    """

    seed: int = 2024

    def _fit(self, X: Matrix, names: Names) -> None:
        """Do nothing."""

    def _score(self, X: Matrix) -> Values:
        return np.random.default_rng(self.seed).random(len(X))

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        key = self.seed.to_bytes(16, "little")
        words = [hashlib.blake2b(row.tobytes(), digest_size=6, key=key).digest() for row in rows]
        return np.array([int.from_bytes(word, "little") / 2**48 for word in words]), {}

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return {}, {}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        """Do nothing."""

    def _check_params(self) -> None:
        super()._check_params()
        check_int("seed", self.seed, low=0, high=2**63 - 1)
