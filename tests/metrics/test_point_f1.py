from __future__ import annotations

import pytest

from axonad.metrics.case import Case
from axonad.metrics.point_f1 import alarm_standard_f1, best_point, pa_f1


def test_one_alarm_in_an_event_counts_as_all_of_it_if_adjusted():
    case = Case.from_alarms([1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 1, 0])
    assert alarm_standard_f1(case) == pytest.approx(2 * 1 / (2 + 3))
    assert pa_f1(case) == pytest.approx(2 * 3 / (4 + 3))


def test_step_zero_is_never_filled_in():
    case = Case.from_alarms([0, 1, 0, 0], [1, 1, 1, 0])
    assert pa_f1(case) == pytest.approx(2 * 2 / (2 + 3))


def test_the_best_threshold_is_the_score_of_an_anomalous_step():
    f1, threshold = best_point(Case.from_scores([0.1, 0.7, 0.6, 0.9, 0.2], [0, 0, 1, 1, 0]))
    assert threshold == 0.6  # three alarms, two of them right
    assert f1 == pytest.approx(2 * 2 / (3 + 2), abs=1e-5)
