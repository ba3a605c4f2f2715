"""LOF: how much thinner the training rows are around a row than around its neighbours.

Breunig, Kriegel, Ng and Sander, "LOF: identifying density-based local outliers", SIGMOD 2000. The
settings are TSB-AD's, whose values it gives on the array it was fitted on. Where we differ: a long
series is represented by a sample, see :mod:`axonad.baselines._neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from axonad.baselines._neighbours import NeighbourDetector, Places
from axonad.baselines._windowed import Values

TINY = 1e-10  # added to a mean distance, so that copies have a finite density


@dataclass(kw_only=True, eq=False, repr=False)
class LOF(NeighbourDetector):
    """Mean density around the neighbours over the density around the window itself.

    Parameters
    ----------
    neighbours, max_train, seed
        See :mod:`axonad.baselines._neighbours`.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    learned: ClassVar[tuple[str, ...]] = ("_reference", "_own", "_reach", "_density")

    def _prepare(self) -> None:
        far, places = self._search(self._reference, np.arange(len(self._reference)))
        self._reach = far[:, -1]
        self._density = self._densities(far, places)

    def _judge(self, far: Values, places: Places) -> Values:
        around: Values = self._density[places].mean(axis=1)
        result: Values = around / self._densities(far, places)
        return result

    def _densities(self, far: Values, places: Places) -> Values:
        result: Values = 1 / (np.maximum(far, self._reach[places]).mean(axis=1) + TINY)
        return result
