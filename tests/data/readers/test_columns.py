from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.data.readers.columns import find_column, to_series
from axonad.errors import InputError


def write(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_columns_can_be_named():
    frame = pl.DataFrame({"t_s": [0.0], "speed": [1.0], "gear": [1], "Label": [0]})
    series = to_series(frame, name="x", time="speed", label="Label", ignore=["gear"])
    assert series.channels == ("t_s",)
    assert series.times.tolist() == [1.0]


def test_a_requested_column_comes_before_a_known_one():
    assert find_column(["a", "Time", "time"], None, ("time",)) == "Time"
    assert find_column(["a", "Time"], "a", ("time",)) == "a"
    assert find_column(["a"], None, ("time",)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "no rows"),
        ("a,b\n1,x\n", "column 'b' of x.csv is not numeric: 'x' in data row 1"),
        ("a,b\n1,2\n3,oops\n", "'oops' in data row 2"),
        ("a,Label\n1,2\n", "labels in column 'Label' of x.csv must be 0 or 1, got 2"),
        ("a,Label\n1,\n", "must be 0 or 1"),
        ("Label\n1\n", "no channel columns"),
    ],
)
def test_unusable_columns_are_rejected(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        axonad.read(write(tmp_path, text))


def test_missing_values_are_nan(tmp_path):
    series = axonad.read(write(tmp_path, "a,b\n1,2\n,NA\nNaN,4\n"))
    assert np.isnan(series.values).tolist() == [[False, False], [True, True], [True, False]]


def test_text_times_are_kept(tmp_path):
    series = axonad.read(write(tmp_path, "timestamp,a\n2026-01-01 10:00,1\n2026-01-01 10:01,2\n"))
    assert series.channels == ("a",)
    assert len(series.times) == 2
