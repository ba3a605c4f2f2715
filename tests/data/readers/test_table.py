from __future__ import annotations

import polars as pl
import pytest

from axonad.data.readers.columns import Columns
from axonad.data.readers.table import End, Piece, Table, pieces_in_chunks, pieces_of_whole
from axonad.errors import InputError

COLUMNS = Columns(("a",), "Label", "time", "x.csv")


def table(*times):
    frames = [
        pl.DataFrame(
            {"a": [1.0], "Label": [0.0], "time": [time]}, schema_overrides={"time": pl.String}
        )
        for time in times
    ]
    return Table(COLUMNS, iter(frames), notes=["short"], has_text_times=True, may_have_comma=True)


def test_times_of_a_whole_come_at_the_end_with_one_type():
    *pieces, end = pieces_of_whole(table("1", "2,5"))
    assert all(isinstance(piece, Piece) and piece.series.times is None for piece in pieces)
    assert end.times.tolist() == [1, 2.5]
    assert end.notes == ("short",)
    *_, end = pieces_of_whole(table("1", "2 s"))
    assert end.times.tolist() == ["1", "2 s"]


def test_times_of_a_chunk_come_with_it():
    *pieces, end = pieces_in_chunks(table("1", "2,5", None), None)
    assert [piece.series.times.tolist() for piece in pieces] == [[1], [2.5], [None]]
    assert isinstance(end, End)
    assert (end.times, end.time_kind) == (None, "float")
    *pieces, _ = pieces_in_chunks(table("1", "2,5"), "float")
    assert [piece.series.times.dtype.kind for piece in pieces] == ["f", "f"]


def test_a_file_that_changes_between_iterations_is_noticed():
    with pytest.raises(InputError, match="leave the file unchanged while it is read"):
        list(pieces_in_chunks(table("x"), "int"))


def test_errors_count_rows_across_parts():
    bad = pl.DataFrame({"a": [1.0], "Label": [7.0], "time": ["2"]})
    parts = Table(COLUMNS, iter([next(table("1").frames), bad]), has_text_times=True)
    with pytest.raises(InputError, match="got 7 in row 1"):
        list(pieces_of_whole(parts))
