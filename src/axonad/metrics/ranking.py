"""AUC-PR and AUC-ROC: how well the scores rank anomalous steps above normal ones."""

from __future__ import annotations

import numpy as np

from axonad.metrics.case import Case


def auc_pr(case: Case) -> float:
    """Area under the precision-recall curve, as a step function (average precision)."""
    return case.once(_areas)[0]


def auc_roc(case: Case) -> float:
    """Probability that an anomalous step scores above a normal one; a tie counts half."""
    return case.once(_areas)[1]


def _areas(case: Case) -> tuple[float, float]:
    """Return AUC-PR and AUC-ROC.

    The scores of anomalous steps are the only thresholds needed: between two of them only the
    number of false alarms changes.
    """
    ascending, anomalous = np.sort(case.values), np.sort(case.values[case.labels])
    first = np.flatnonzero(np.concatenate([[True], anomalous[1:] != anomalous[:-1]]))
    thresholds, total = anomalous[first], anomalous.size
    found = total - first  # anomalous steps with at least this score
    found_above = np.append(found[1:], 0)
    alarms = case.size - np.searchsorted(ascending, thresholds, side="left")
    alarms_above = case.size - np.searchsorted(ascending, thresholds, side="right")
    gained, normal = found - found_above, case.size - total
    pr = np.sum(gained * (found / alarms)) / total
    beaten = normal - ((alarms - found) + (alarms_above - found_above)) / 2
    return float(pr), float(np.sum(gained * beaten) / (total * normal))
