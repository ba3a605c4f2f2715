from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.data.readers import limits, process
from axonad.data.readers import parquet as parquet_module
from axonad.data.readers.asked import Asked
from axonad.data.readers.reading import read_bytes, stream_pieces
from axonad.data.readers.request import Request
from axonad.data.readers.table import End
from axonad.errors import FileError


@pytest.fixture(params=["in a process", "in this process"])
def anywhere(request, monkeypatch):
    if request.param == "in this process":
        process.close_all()
        monkeypatch.setattr(process, "_can_start", False)


def test_pieces_end_with_what_is_known_of_all(tmp_path, anywhere):
    (tmp_path / "x.csv").write_text("time,a\n1,2\n")
    request = Request.of(tmp_path / "x.csv", Asked())
    piece, end = stream_pieces(request)
    assert piece.series.values.tolist() == [[2.0]]
    assert isinstance(end, End)
    assert end.times.tolist() == [1]


def test_bytes_are_read_as_csv(anywhere):
    assert read_bytes(b"a;b\n1,5;2\n", "x").values.tolist() == [[1.5, 2.0]]


@pytest.mark.parametrize("rows", [10, 300_000])
def test_large_series_arrive_whole(tmp_path, anywhere, monkeypatch, rows):
    monkeypatch.setattr(parquet_module, "PIECE", 1000 if rows == 10 else 2**19)
    values = np.random.default_rng(0).normal(size=(rows, 3))
    frame = pl.DataFrame(values, schema=["a", "b", "c"]).with_columns(
        time=pl.int_range(pl.len()), Label=pl.int_range(pl.len()) % 2
    )
    frame.write_parquet(tmp_path / "x.parquet")
    series = axonad.read(tmp_path / "x.parquet")
    np.testing.assert_array_equal(series.values, values)
    assert series.values.flags.c_contiguous
    np.testing.assert_array_equal(series.times, np.arange(rows))
    np.testing.assert_array_equal(series.labels, np.arange(rows) % 2)


def test_a_small_file_may_hold_too_much(tmp_path, anywhere, monkeypatch):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"0\n" * 600_000, 1))
    monkeypatch.setattr(limits, "largest_series", lambda: 2**21)
    with pytest.raises(FileError, match=r"holds more than 0\.00195 GiB of values, too much"):
        axonad.read(path)
    monkeypatch.undo()
    (tmp_path / "y.csv").write_text("a\n1\n")
    assert len(axonad.read(tmp_path / "y.csv")) == 1
