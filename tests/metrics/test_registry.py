import pytest

from axonad import errors
from axonad.metrics import METRICS, evaluate, evaluate_alarms

SCORES = [0.1, 0.4, 0.9, 0.8, 0.2, 0.3, 0.7, 0.1]
LABELS = [0, 0, 1, 1, 0, 0, 0, 0]


def test_unknown_metrics_are_refused_with_a_hint():
    with pytest.raises(errors.UnknownNameError, match="did you mean 'VUS-PR'"):
        evaluate(SCORES, LABELS, metrics=["VUS-P"])
    with pytest.raises(errors.UnknownNameError, match="'AUC-PR' is not one of"):
        evaluate_alarms(LABELS, LABELS, metrics=["AUC-PR"])


def test_one_metric_may_be_asked_for_by_its_name_alone():
    assert list(evaluate(SCORES, LABELS, metrics="AUC-PR")) == ["AUC-PR"]


def test_every_metric_explains_itself():
    for name, metric in METRICS.items():
        for function in (metric.of_scores, metric.of_alarms):
            assert function is None or function.__doc__, name
    assert "misleads" in METRICS["PA-F1"].of_scores.__doc__
