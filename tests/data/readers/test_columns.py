from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.data.readers.columns import Asked, choose_columns, to_series, to_times
from axonad.errors import ChannelError, InputError


def write(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_columns_can_be_named():
    frame = pl.DataFrame({"t_s": [0.0], "speed": [1.0], "gear": [1], "Label": [0]})
    asked = Asked(time="speed", label="Label", ignore=("gear",))
    columns = choose_columns(frame.columns, asked, name="x")
    series = to_series(frame, columns)
    assert series.channels == ("t_s",)
    assert series.times.tolist() == [1.0]
    assert series.labels.tolist() == [0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(time="tim"), "x has no column 'tim'; did you mean 'time'"),
        (Asked(label="none"), "x has no column 'none'; columns: time, a$"),
        (Asked(ignore=("b",)), "x has no column 'b'"),
        (Asked(ignore=("time",), time="time"), "x has no column 'time'"),
    ],
)
def test_named_columns_must_exist(asked, message):
    with pytest.raises(ChannelError, match=message):
        choose_columns(["time", "a"], asked, name="x")


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        (pl.Series(["a", None]), "O"),
        (pl.Series(["a", "b"]).cast(pl.Categorical), "O"),
        (pl.Series([1, 2]).cast(pl.Time), "O"),
        (pl.Series([1, 2]).cast(pl.Datetime("us", "UTC")), "M"),
        (pl.Series([1, None]).cast(pl.Date), "M"),
        (pl.Series([1, 2]).cast(pl.Duration), "m"),
        (pl.Series([1, 2], dtype=pl.Int128), "f"),
        (pl.Series(["1.5", "2"]).cast(pl.Decimal(5, 1)), "f"),
        (pl.Series([True, None]), "f"),
        (pl.Series([None, None]), "f"),
        (pl.Series([1, 2], dtype=pl.UInt8), "u"),
    ],
)
def test_times_of_every_type_become_numbers_datetimes_or_text(times, kind):
    found = to_times(times, "x")
    assert found.dtype.kind == kind
    assert len(found) == 2
    if kind == "O":
        assert {type(time) for time in found} <= {str, type(None)}


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pl.Series([[1.0], [2.0]]), "lists"),
        (pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)), "lists"),
        (pl.Series([{"x": 1}, {"x": 2}]), "records"),
        (pl.Series([b"a", b"b"]), "bytes"),
    ],
)
@pytest.mark.parametrize("name", ["a", "time", "label"])
def test_nested_columns_are_named(column, what, name):
    frame = pl.DataFrame({"b": [1, 2], name: column})
    columns = choose_columns(frame.columns, Asked(), name="x")
    message = (
        f"column '{name}' of x holds {what}; expected numbers; skip it with "
        f"ignore=['{name}'] (--ignore {name})"
    )
    with pytest.raises(InputError, match=re.escape(message)):
        to_series(frame, columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "no rows"),
        ("a,b\n1,x\n", "column 'b' of x.csv is not numeric: 'x' in row 0"),
        ("a,b\n1,2\n3,oops\n", "'oops' in row 1"),
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
