"""Metrics of anomaly detection: equal to TSB-AD 1.5 within 1e-9, and much faster.

>>> from axonad.metrics import evaluate
>>> print(evaluate([0.1, 0.9, 0.3], [0, 1, 0], window=0, metrics=["AUC-PR", "VUS-PR"]))
{"AUC-PR": 1.0000, "VUS-PR": 1.0000}

A metric is one function of a `Case`, in the module of its family, and one line in `METRICS`.
"""

from axonad.metrics.alarm_report import AlarmReport, describe_alarms
from axonad.metrics.evaluation import Evaluation, chance_level, evaluate, evaluate_alarms
from axonad.metrics.registry import ALARM_METRICS, ALIASES, METRICS, SCORE_METRICS, Metric
from axonad.metrics.vus import extend_labels
from axonad.metrics.vus_window import Window, choose_window, find_period

__all__ = [
    "ALARM_METRICS", "ALIASES", "METRICS", "SCORE_METRICS", "AlarmReport", "Evaluation", "Metric",
    "Window", "chance_level", "choose_window", "describe_alarms", "evaluate", "evaluate_alarms",
    "extend_labels", "find_period",
]  # fmt: skip
