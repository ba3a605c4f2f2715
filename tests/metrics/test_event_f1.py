from __future__ import annotations

import pytest

from axonad.metrics.case import Case
from axonad.metrics.event_f1 import event_f1


def test_recall_counts_events_and_precision_steps():
    case = Case.from_alarms([0, 0, 1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0, 1, 0])
    recall, precision = 1 / 2, 1 / 3
    assert event_f1(case) == pytest.approx(2 * recall * precision / (recall + precision))


def test_a_single_last_step_is_never_found():
    assert event_f1(Case.from_alarms([0, 0, 1], [0, 0, 1])) == 0
    assert event_f1(Case.from_alarms([0, 1, 1], [0, 1, 1])) == pytest.approx(1)
