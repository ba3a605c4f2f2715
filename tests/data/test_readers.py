from __future__ import annotations

import gzip
import os

import polars as pl
import pytest

import axonad
from axonad.data.readers import TABLES
from axonad.errors import AxonADError, ChannelError, FileError, InputError, UnknownNameError

FRAME = pl.DataFrame(
    {"t_s": [0.0, 0.1, 0.2], "speed": [1.0, 2.5, 3.0], "gear": [1, 1, 2], "Label": [0, 0, 1]}
)


@pytest.fixture(params=sorted(TABLES))
def path(request, tmp_path):
    path = tmp_path / f"drive{request.param}"
    if request.param == ".csv":
        FRAME.write_csv(path)
    elif request.param == ".csv.gz":
        path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    else:
        FRAME.write_parquet(path)
    return path


def test_every_table_gives_the_same_series(path):
    series = axonad.read(path)
    assert series.channels == ("speed", "gear")
    assert series.values.tolist() == [[1.0, 1.0], [2.5, 1.0], [3.0, 2.0]]
    assert series.labels.tolist() == [0, 0, 1]
    assert series.times.tolist() == [0.0, 0.1, 0.2]
    assert series.name == path.name


def refused(text, name="x.csv", **options):
    return lambda folder: axonad.read(write(folder, text, name), **options)


def write(tmp_path, text, name="x.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read_pipe(folder):
    os.mkfifo(folder / "pipe.csv")
    axonad.read(folder / "pipe.csv")  # opening it would wait for a writer


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: axonad.read(p / "none.csv"), FileError, "does not exist"),
        (axonad.read, FileError, "is a folder"),
        (read_pipe, FileError, "is a pipe, socket or device; expected a plain file"),
        (lambda p: axonad.read(p / "\0.csv"), FileError, "cannot be read"),
        (refused("", "x.parquet"), InputError, "x.parquet is empty"),
        (refused("a,b\n1,2\n", separator="ab"), InputError, "separator must be one character"),
        (refused("a", "x.xlsx"), UnknownNameError, "no reader for 'x.xlsx'"),
        (refused(b"ab", "x.csv.gz"), FileError, "read as CSV"),
        (refused("a,b\n1,2\n", time="tim"), ChannelError, "no column 'tim'"),
        (refused("a,b\n1,2\n", ignore=["c"]), ChannelError, "no column 'c'"),
    ],
)
def test_bad_paths_and_columns(tmp_path, call, error, message):
    with pytest.raises(error, match=message) as caught:
        call(tmp_path)
    assert isinstance(caught.value, AxonADError)
