"""Time axes and the words for times."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.report.page.axis import Axis
from axonad.report.page.content import DATE, SECONDS, STEP

DATES = np.datetime64("2026-01-01T12:00:00") + np.arange(4) * np.timedelta64(500, "ms")


@pytest.mark.parametrize(
    ("times", "kind", "duration"),
    [
        (None, STEP, "3 rows"),
        (np.arange(4) / 10, SECONDS, "0.3 s"),
        (DATES, DATE, "1.5 s"),
        (np.array([str(one) for one in DATES], dtype=object), DATE, "1.5 s"),
        (np.array(["a", "b", "c", "d"], dtype=object), STEP, "3 rows"),
        (np.array([3.0, 2, 1, 0]), STEP, "3 rows"),
        (np.array([0, np.nan, 1, 2]), STEP, "3 rows"),
    ],
)
def test_positions_by_the_times_of_a_recording(times, kind, duration):
    axis = Axis.of(times, 4)
    assert axis.kind == kind
    assert (np.diff(axis.x) > 0).all()
    assert axis.duration(1, 4) == duration


def test_times_in_words():
    assert Axis.of(None, 4).time(17) == "row 17"
    assert Axis.of(np.arange(4) / 10, 4).time(np.float64(0.3)) == "0.3 s"
    assert Axis.of(DATES, 4).time(DATES[1]) == "2026-01-01 12:00:00.5"
    assert Axis.of(None, 4, usual=0.1).interval == 0.1
