"""KNN: how far a row is from its nearest training rows.

Ramaswamy, Rastogi and Shim, "Efficient algorithms for mining outliers from large data sets", SIGMOD
2000; the mean over all neighbours after Angiulli and Pizzuti, PKDD 2002. The settings are TSB-AD's,
whose values it gives on the array it was fitted on. Where we differ: a long series is represented
by a sample, see :mod:`axonad.baselines._neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass

from axonad.baselines._neighbours import NeighbourDetector, Places
from axonad.baselines._windowed import Values
from axonad.config import check_choice

METHODS = ("mean", "median", "largest")


@dataclass(kw_only=True, eq=False, repr=False)
class KNN(NeighbourDetector):
    """Distance to the nearest training windows.

    Parameters
    ----------
    method
        Which distance counts: the ``"mean"`` over the neighbours, their ``"median"``, or the
        ``"largest"``.
    neighbours, max_train, seed
        See :mod:`axonad.baselines._neighbours`.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    method: str = "mean"

    def _judge(self, far: Values, places: Places) -> Values:
        if self.method == "largest":
            return far[:, -1]
        if self.method == "median":
            middle = far.shape[1] // 2
            result: Values = (far[:, middle] + far[:, -middle - 1]) / 2  # sorted by distance
            return result
        mean: Values = far.mean(axis=1)
        return mean

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("method", self.method, METHODS)
