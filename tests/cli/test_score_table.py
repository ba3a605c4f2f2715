"""The columns of a score table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from axonad.cli.score_table import score_columns
from axonad.data.series import Series
from axonad.explanation import Explanation

FOUND = Explanation(
    scores=np.array([0.5, 3.0]),
    components={"d_rec": np.array([0.5, 1.0]), "d_q": np.array([0.0, 2.0])},
    blame=None,
    threshold=1.0,
    names=None,
)


def make_series(**more):
    return Series(values=np.zeros((2, 1)), channels=("a",), name="x", **more)


def test_steps_are_counted_from_the_first():
    columns = pl.DataFrame(score_columns(make_series(), FOUND, first=7))
    assert columns.columns == ["step", "score", "d_rec", "d_q", "alarm"]
    assert columns.rows() == [(7, 0.5, 0.5, 0.0, 0), (8, 3.0, 1.0, 2.0, 1)]


@pytest.mark.parametrize(
    ("times", "dtype"),
    [(np.array([0.0, 0.1]), pl.Float64), (np.array([None, "10:01"], dtype=object), pl.String)],
)
def test_times_keep_their_type_and_labels_come_last(times, dtype):
    series = make_series(times=times, labels=np.array([0, 1], dtype=np.int8))
    columns = pl.DataFrame(score_columns(series, FOUND))
    assert columns.columns == ["step", "time", "score", "d_rec", "d_q", "alarm", "label"]
    assert columns["time"].dtype == dtype
    assert columns["time"].to_list() == times.tolist()
    assert columns["label"].to_list() == [0, 1]
