from __future__ import annotations

import numpy as np
import pytest

from axonad.data.series import Series
from axonad.errors import ChannelError, InputError

VALUES = np.arange(6.0).reshape(3, 2)
SERIES = Series(
    values=VALUES, channels=("a", "b"), labels=np.array([0, 0, 1]), times=np.array([1, 2, 3])
)


def test_rows_and_selection_keep_labels_and_times():
    for part in (SERIES.rows(1, 3), SERIES.select(np.array([False, True, True]))):
        assert len(part) == 2
        assert part.channels == ("a", "b")
        assert part.values.tolist() == [[2, 3], [4, 5]]
        assert part.labels.tolist() == [0, 1]
        assert part.times.tolist() == [2, 3]
    assert np.shares_memory(SERIES.rows(1).values, VALUES)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"channels": ("a",)}, InputError, r"shape \(time, 1\).*, got \(3, 2\)"),
        ({"channels": ("a", "a")}, ChannelError, "'a' appears more than once"),
        ({"labels": np.zeros(2)}, InputError, "labels must have 3 entries, got 2"),
        ({"times": np.zeros(4)}, InputError, "times must have 3 entries, got 4"),
    ],
)
def test_parts_that_do_not_fit_are_rejected(changes, error, message):
    with pytest.raises(error, match=message):
        Series(**{"values": VALUES, "channels": ("a", "b"), **changes})


def test_keep_takes_the_channels_that_are_wanted():
    series = Series(values=np.arange(6.0).reshape(2, 3), channels=("a", "b", "c"))
    kept = series.keep(["c", "a", "x"])
    assert kept.channels == ("a", "c")
    assert kept.values.tolist() == [[0, 2], [3, 5]]
