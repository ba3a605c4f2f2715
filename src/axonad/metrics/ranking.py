"""AUC-PR and AUC-ROC: how well the scores rank anomalous steps above normal ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import FloatArray, IntArray


@dataclass(frozen=True)
class RankCurve:
    """Counts at every distinct score of an anomalous step, lowest score first.

    Between two such thresholds only the number of false alarms changes.
    """

    thresholds: FloatArray
    found: IntArray  # anomalous steps with at least this score
    alarms: IntArray  # all steps with at least this score
    gained: IntArray  # anomalous steps with exactly this score


def rank_curve(case: Case) -> RankCurve:
    """Return found steps and alarms at each distinct score of an anomalous step."""
    scores = np.sort(case.values[case.labels])
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    thresholds = scores[first]
    alarms = case.size - np.searchsorted(case.ascending, thresholds, side="left")
    found = scores.size - first
    return RankCurve(thresholds, found, alarms, found - np.append(found[1:], 0))


def auc_pr(case: Case) -> float:
    """Area under the precision-recall curve, as a step function (average precision)."""
    curve = case.once(rank_curve)
    return float(np.sum(curve.gained * (curve.found / curve.alarms)) / curve.found[0])


def auc_roc(case: Case) -> float:
    """Probability that an anomalous step scores above a normal one; a tie counts half."""
    curve = case.once(rank_curve)
    up_to = np.searchsorted(case.ascending, curve.thresholds, side="right")
    normal = case.size - curve.found[0]
    normal_at_least = curve.alarms - curve.found
    normal_above = (case.size - up_to) - (curve.found - curve.gained)
    beaten = normal - (normal_at_least + normal_above) / 2
    return float(np.sum(curve.gained * beaten) / (curve.found[0] * normal))
