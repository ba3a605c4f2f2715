from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.data.readers.chunks import FileChunks
from axonad.errors import ConfigError, FileError, InputError

FRAME = pl.DataFrame(
    {
        "time": [f'{i}\n"x"' for i in range(7)],  # quoted fields with line breaks
        "speed": [0.0, 1.0, None, None, 4.0, 5.5, 6.0],
        "Label": [0, 0, 0, 1, 1, 0, 0],
    }
)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_chunks_joined_are_the_whole_file(tmp_path, suffix, size):
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        FRAME.write_parquet(path)
    else:
        data = FRAME.write_csv().encode()
        path.write_bytes(gzip.compress(data) if suffix == ".csv.gz" else data)
    whole, chunks = axonad.read(path), list(FileChunks(path, size=size))
    assert max(len(chunk) for chunk in chunks) <= size
    np.testing.assert_array_equal(np.concatenate([c.values for c in chunks]), whole.values)
    for name in ("labels", "times"):
        joined = np.concatenate([getattr(chunk, name) for chunk in chunks])
        assert joined.tolist() == getattr(whole, name).tolist()


def test_the_second_iteration_has_one_type_of_time(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("time,a\n1,1\n2.5,2\n")
    chunks = FileChunks(path, size=1)
    assert [chunk.times.dtype.kind for chunk in chunks] == ["i", "f"]
    assert [chunk.times.dtype.kind for chunk in chunks] == ["f", "f"]


def test_errors_name_the_row_in_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\nx\n")
    with pytest.raises(InputError, match="'x' in row 2"):
        list(FileChunks(path, size=2))


def test_bad_arguments_are_rejected(tmp_path):
    with pytest.raises(FileError, match="does not exist; expected a file"):
        FileChunks(tmp_path / "none.csv", size=2)
    with pytest.raises(ConfigError, match="chunk must be at least 1, got 0"):
        FileChunks(tmp_path / "none.csv", size=0)
