"""All metrics by name, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from axonad.errors import UnknownNameError, suggest
from axonad.metrics import affiliation, event_f1, point_f1, range_f1, ranking, vus
from axonad.metrics.case import Case

Compute = Callable[[Case], float]


@dataclass(frozen=True)
class Metric:
    """The functions of a metric, None where it does not apply, and its name in TSB-AD."""

    of_scores: Compute | None
    of_alarms: Compute | None
    tsb_ad_name: str


METRICS: dict[str, Metric] = {
    "VUS-PR": Metric(vus.vus_pr, None, "VUS-PR"),
    "VUS-ROC": Metric(vus.vus_roc, None, "VUS-ROC"),
    "AUC-PR": Metric(ranking.auc_pr, None, "AUC-PR"),
    "AUC-ROC": Metric(ranking.auc_roc, None, "AUC-ROC"),
    "Standard-F1": Metric(point_f1.standard_f1, point_f1.alarm_standard_f1, "Standard-F1"),
    "PA-F1": Metric(point_f1.pa_f1, point_f1.pa_f1, "PA-F1"),
    "Event-F1": Metric(event_f1.event_f1, event_f1.event_f1, "Event-based-F1"),
    "Range-F1": Metric(range_f1.range_f1, range_f1.range_f1, "R-based-F1"),
    "Affiliation-F1": Metric(
        affiliation.affiliation_f1, affiliation.affiliation_f1, "Affiliation-F"
    ),
    "VUS-Precision": Metric(None, vus.vus_precision, "VUS-Precision"),
    "VUS-Recall": Metric(None, vus.vus_recall, "VUS-Recall"),
    "VUS-F": Metric(None, vus.vus_f, "VUS-F"),
}

SCORE_METRICS = {name: m.of_scores for name, m in METRICS.items() if m.of_scores is not None}
ALARM_METRICS = {name: m.of_alarms for name, m in METRICS.items() if m.of_alarms is not None}
ALIASES = {metric.tsb_ad_name: name for name, metric in METRICS.items()}


def resolve_names(names: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """Return the requested metrics under our names; all known ones for None.

    >>> resolve_names(["R-based-F1"], SCORE_METRICS)
    ('Range-F1',)
    """
    known = tuple(known)
    if names is None:
        return known
    names = [names] if isinstance(names, str) else names
    resolved = tuple(ALIASES.get(name, name) for name in names)
    for name in resolved:
        if name not in known:
            raise UnknownNameError(
                f"metric {name!r} is not one of {', '.join(known)}{suggest(name, known)}"
            )
    return resolved
