from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.data.readers import READERS
from axonad.errors import AxonADError, ChannelError, FileError, InputError, UnknownNameError

FRAME = pl.DataFrame(
    {"t_s": [0.0, 0.1, 0.2], "speed": [1.0, 2.5, 3.0], "gear": [1, 1, 2], "Label": [0, 0, 1]}
)


@pytest.fixture(params=sorted(READERS))
def path(request, tmp_path):
    path = tmp_path / f"drive{request.param}"
    if request.param == ".csv":
        FRAME.write_csv(path)
    elif request.param == ".csv.gz":
        path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    else:
        FRAME.write_parquet(path)
    return path


def test_every_format_gives_the_same_series(path):
    series = axonad.read(path)
    assert series.channels == ("speed", "gear")
    assert series.values.tolist() == [[1.0, 1.0], [2.5, 1.0], [3.0, 2.0]]
    assert series.labels.tolist() == [0, 0, 1]
    assert series.times.tolist() == [0.0, 0.1, 0.2]
    assert series.name == path.name


def test_columns_can_be_named(path):
    series = axonad.read(path, time="speed", label="Label", ignore=["gear"])
    assert series.channels == ("t_s",)
    assert series.times.tolist() == [1.0, 2.5, 3.0]


def refused(text, name="x.csv", **options):
    return lambda folder: axonad.read(write(folder, text, name), **options)


def write(tmp_path, text, name="x.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_rows_part(path):
    part = axonad.read(path).rows(1, 3)
    assert len(part) == 2
    assert part.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", InputError, "x.csv is empty"),
        ("a,b\n", InputError, "no rows"),
        ("a,b\n1,x\n", InputError, "column 'b' of x.csv is not numeric: 'x' in data row 1"),
        ("a,b\n1,2\n3,oops\n", InputError, "'oops' in data row 2"),
        ("a,a\n1,2\n", ChannelError, "'a' appears more than once"),
        ("a;b\n1;2\n", InputError, "separated by ';'; pass separator=';'"),
        ("0.5,1.5\n1,2\n", InputError, "no header line"),
        ("a,Label\n1,2\n", InputError, "labels in column 'Label' of x.csv must be 0 or 1, got 2"),
        ("a,Label\n1,\n", InputError, "must be 0 or 1"),
        ("Label\n1\n", InputError, "no channel columns"),
        ("a,b\n1,2,3\n", FileError, "cannot be read as CSV"),
        (b"\xff\xfe\x00\x01\x02,\n", FileError, "cannot be read as CSV"),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        axonad.read(write(tmp_path, text))


def test_numbered_channels_are_fine(tmp_path):
    series = axonad.read(write(tmp_path, "0,1,Label\n0.1,0.2,0\n0.3,0.4,1\n"))
    assert series.channels == ("0", "1")


def test_other_separator_and_byte_order_mark(tmp_path):
    path = write(tmp_path, "\ufeffa;b\n1;2.5\n")
    assert axonad.read(path, separator=";").values.tolist() == [[1.0, 2.5]]


def test_missing_values_are_nan(tmp_path):
    series = axonad.read(write(tmp_path, "a,b\n1,2\n,NA\nNaN,4\n"))
    assert np.isnan(series.values).tolist() == [[False, False], [True, True], [True, False]]


def test_integers_turning_to_floats_late(tmp_path):
    text = "a\n" + "1\n" * 5000 + "1.5\n"
    assert axonad.read(write(tmp_path, text)).values[-1, 0] == 1.5


def test_text_times_are_kept(tmp_path):
    series = axonad.read(write(tmp_path, "timestamp,a\n2026-01-01 10:00,1\n2026-01-01 10:01,2\n"))
    assert series.channels == ("a",)
    assert len(series.times) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: axonad.read(p / "none.csv"), FileError, "does not exist"),
        (axonad.read, FileError, "is a folder"),
        (refused("a", "x.xlsx"), UnknownNameError, "no reader for 'x.xlsx'"),
        (refused("a", "x.parquet"), FileError, "read as Parquet"),
        (refused(b"ab", "x.csv.gz"), FileError, "read as CSV"),
        (refused("a,b\n1,2\n", time="tim"), ChannelError, "no column 'tim'"),
        (refused("a,b\n1,2\n", ignore=["c"]), ChannelError, "no column 'c'"),
    ],
)
def test_bad_paths_and_columns(tmp_path, call, error, message):
    with pytest.raises(error, match=message) as caught:
        call(tmp_path)
    assert isinstance(caught.value, AxonADError)
