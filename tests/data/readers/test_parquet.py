from __future__ import annotations

import polars as pl
import pytest

import axonad
from axonad.data.readers.parquet import read_parquet
from axonad.errors import FileError


def test_a_table_comes_back_with_its_types(tmp_path):
    frame = pl.DataFrame({"time": ["a", None], "speed": [1.5, None], "gear": [1, 2]})
    frame.write_parquet(tmp_path / "x.parquet")
    found = read_parquet(tmp_path / "x.parquet", separator=";")
    assert found.schema == frame.schema
    assert found.rows() == [("a", 1.5, 1), (None, None, 2)]


def test_another_kind_of_file_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("a")
    with pytest.raises(FileError, match=r"x\.parquet cannot be read as Parquet: ") as caught:
        axonad.read(tmp_path / "x.parquet")
    assert len(str(caught.value).splitlines()) == 1
