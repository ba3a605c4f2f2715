from __future__ import annotations

import pytest

from axonad.errors import InputError
from axonad.report.alarms import alarm_table
from tests.report.rows import make_row


def test_alarms_are_means_over_series():
    rows = [
        make_row("A", "s0", 0.5, alarms={"events": 4, "found": 3, "false_alarms": 1, "share": 0.1}),
        make_row("A", "s1", 0.5, alarms={"events": 2, "found": 0, "false_alarms": 0, "share": 0.0}),
        make_row("B", "s0", 0.5, alarms={"events": 4, "found": 4, "false_alarms": 9, "share": 0.5}),
    ]
    first, second = alarm_table(rows).rows
    assert first == ("B", 4, 4, 9, 0.5, 1)
    assert second == ("A", 3, 1.5, 0.5, pytest.approx(0.05), 2)
    with pytest.raises(InputError, match="no row has alarms"):
        alarm_table([make_row()])
