"""How stacked rows divide: windows, held-out rows and folds stay within recordings."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.data.recordings import Recordings
from axonad.errors import InputError


def of(*rows: int) -> Recordings:
    return Recordings(rows, rows)


def test_windows_begin_where_all_their_rows_lie_in_one_stretch():
    found = Recordings((5, 3, 2, 4), (8, 6))
    owner = np.repeat(np.arange(4), found.lengths)
    expected = [row for row in range(12) if owner[row] == owner[row + 2]]
    assert found.starts(3).tolist() == expected
    assert found.count(3) == len(expected)
    assert found.ranges(3, 2, 5) == [(2, 3), (5, 6), (10, 11)]
    assert Recordings.one(10).starts(4, stride=3).tolist() == [0, 3, 6]
    with pytest.raises(InputError, match="at most the rows of the longest recording without a gap"):
        found.count(6)


@pytest.mark.parametrize(
    ("rows", "row"),
    [
        ((100, 100, 100, 100, 100), 400),  # a fifth is one of five
        ((100, 100, 100), 200),  # the nearest
        ((100, 100), 160),  # two recordings: a fifth of the rows
        ((10, 20, 970), 800),  # whole ones would leave too little to learn from
        ((970, 10, 20), 970),
    ],
)
def test_whole_recordings_are_held_out_from_three_on(rows, row):
    found = of(*rows)
    assert found.cut(0.2) == row
    assert found.cut(0.0) == sum(rows)
    before, after = found.before(row), found.after(row)
    assert before.rows + after.rows == sum(rows)
    if row in np.cumsum(rows):
        assert before.lengths + after.lengths == rows


def test_gaps_alone_make_no_recordings():
    assert Recordings((100, 100, 100, 100), (400,)).cut(0.2) == 320


@pytest.mark.parametrize("rows", [(30, 30, 30), (10, 90, 20, 30, 15, 40, 12), (50, 10, 10)])
def test_folds_are_whole_recordings_and_cover_each_window_once(rows):
    found = of(*rows)
    folds = found.folds(8, 5)
    assert len(folds) == min(5, len(rows))
    numbers = [number for start, stop in folds for number in range(start, stop)]
    assert numbers == list(range(found.count(8)))
    edges = np.cumsum(found.counts(8)).tolist()
    assert all(stop in edges and stop > start for start, stop in folds)
    assert len(of(30, 30).folds(8, 5)) == 5
