"""AUC-PR and AUC-ROC: how well the scores rank anomalous steps above normal ones.

No threshold is chosen and neighbouring steps are not related to each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import FloatArray, IntArray


@dataclass(frozen=True)
class RankCurve:
    """Counts at every distinct score of an anomalous step, lowest score first.

    Other thresholds need no look: between two scores of anomalous steps only false alarms change.
    """

    thresholds: FloatArray
    found: IntArray  # anomalous steps with at least this score
    alarms: IntArray  # all steps with at least this score

    @property
    def precision(self) -> FloatArray:
        """Share of alarms that are anomalous."""
        return self.found / self.alarms


def rank_curve(case: Case) -> RankCurve:
    """Return found steps and alarms at each distinct score of an anomalous step."""
    scores = np.sort(case.values[case.labels])
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    thresholds = scores[first]
    alarms = case.size - np.searchsorted(case.ascending, thresholds, side="left")
    return RankCurve(thresholds, scores.size - first, alarms)


def auc_pr(case: Case) -> float:
    """Area under the precision-recall curve, as a step function (average precision)."""
    curve = case.once(rank_curve)
    gained = curve.found - np.append(curve.found[1:], 0)
    return float(np.sum(gained * curve.precision) / curve.found[0])


def auc_roc(case: Case) -> float:
    """Chance that an anomalous step outranks a normal one; a tie counts half."""
    curve = case.once(rank_curve)
    gained = curve.found - np.append(curve.found[1:], 0)
    up_to = np.searchsorted(case.ascending, curve.thresholds, side="right")
    normal = case.size - curve.found[0]
    normal_at_least = curve.alarms - curve.found
    normal_above = (case.size - up_to) - np.append(curve.found[1:], 0)
    beaten = normal - (normal_at_least + normal_above) / 2
    return float(np.sum(gained * beaten) / (curve.found[0] * normal))
