from __future__ import annotations

import polars as pl
import pytest

import axonad
from axonad.data.readers import limits
from axonad.data.readers import parquet as parquet_module
from axonad.data.readers.columns import Asked
from axonad.data.readers.parquet import read_parquet
from axonad.errors import FileError, InputError

FRAME = pl.DataFrame({"time": ["a", None], "speed": [1.5, None], "gear": [1, 2]})


@pytest.fixture
def path(tmp_path):
    FRAME.write_parquet(tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


def read(path, **options):
    options = {"asked": Asked(), "shown_path": "x.parquet", "name": "x.parquet"} | options
    return read_parquet(path, **options)


def test_a_table_comes_back_with_its_types(path):
    table = read(path, separator=";")
    found = pl.concat(table.frames).select(FRAME.columns)
    assert found.schema == FRAME.schema
    assert found.rows() == [("a", 1.5, 1), (None, None, 2)]
    assert table.rows == 2


def test_only_wanted_columns_are_read(path):
    assert next(read(path, asked=Asked(ignore=("gear",))).frames).columns == ["speed", "time"]


def test_a_nested_column_is_named_or_ignored(tmp_path):
    path = tmp_path / "x.parquet"
    FRAME.with_columns(a=pl.Series([[1.0], [2.0]])).write_parquet(path)
    with pytest.raises(InputError, match=r"column 'a' of x\.parquet holds lists; expected numbers"):
        axonad.read(path)
    assert axonad.read(path, ignore=["a"]).channels == ("speed", "gear")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"a" + data[1:], "it begins with b'aAR1'; expected b'PAR1'"),
        (lambda data: data[:-1], "its end is missing"),
        (lambda data: data[:6], "its end is missing"),
        (lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1", "its footer is larger than the file"),
        (lambda data: data[:-8] + b"\0\0\0\0PAR1", "its footer is larger than the file"),
        (lambda data: data[:-40] + b"\xff" * 32 + data[-8:], ""),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(path, change, message):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(FileError, match=rf"x\.parquet cannot be read as Parquet: {message}") as e:
        axonad.read(path)
    assert len(str(e.value).splitlines()) == 1


def test_values_that_do_not_fit_in_memory_are_not_read(path, monkeypatch):
    monkeypatch.setattr(parquet_module, "largest_series", lambda: 16)
    with pytest.raises(FileError, match=r"holds more than .* GiB of values, too much to read at o"):
        read(path)
    assert sum(frame.height for frame in read(path, rows=1).frames) == 2
    assert limits.largest_series() > 16


@pytest.mark.parametrize("rows", [None, 2])
def test_a_footer_that_promises_more_rows_is_noticed(path, rows):
    lazy = pl.scan_parquet(path, glob=False)
    with pytest.raises(FileError, match="it holds 2 rows where its footer says 3"):
        list(parquet_module._frames(lazy, 3, rows, "x"))
