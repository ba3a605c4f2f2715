from __future__ import annotations

import pytest

from axonad.metrics.affiliation import affiliation_f1
from axonad.metrics.case import Case

LABELS = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]  # the event [4, 6) in the zone [0, 10)


@pytest.mark.parametrize(
    ("alarm", "precision", "recall"),
    [
        # inside: on [4, 5) the alarm is 1/2 away on average, twice that is lost; on [5, 6) nothing
        (5, 1.0, (1 - 2 * 0.5 / 10 + 1) / 2),
        # after it: 1.5 away on average; the event is 2 steps long and 2 away from it on average
        (7, 1 - (2 * 1.5 + 2) / 10, 1 - 2 * 2 / 10),
    ],
)
def test_one_alarm_near_one_event(alarm, precision, recall):
    alarms = [int(step == alarm) for step in range(10)]
    expected = 2 * precision * recall / (precision + recall)
    assert affiliation_f1(Case.from_alarms(alarms, LABELS)) == pytest.approx(expected)
