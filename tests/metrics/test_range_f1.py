from __future__ import annotations

import pytest

from axonad.metrics.case import Case
from axonad.metrics.range_f1 import range_f1

LABELS = [0, 0, 1, 1, 1, 1, 0, 0]


def test_an_event_found_in_two_pieces():
    case = Case.from_alarms([0, 0, 0, 1, 0, 1, 1, 0], LABELS)
    recall = 0.2 + 0.8 * (2 / 4) / 2  # half of its steps, by two alarm ranges
    precision = (1 / 1 + 1 / 2) / 2  # one range lies inside, one half outside
    assert range_f1(case) == pytest.approx(2 * recall * precision / (recall + precision))


def test_alarms_at_every_step_are_no_range():
    assert range_f1(Case.from_alarms([1] * 8, LABELS)) == 0
