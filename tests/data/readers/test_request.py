from __future__ import annotations

import json

import pytest

from axonad.data.readers import csv as csv_module
from axonad.data.readers.asked import Asked
from axonad.data.readers.request import Request, read_pieces, to_sentence
from axonad.errors import FileError, InputError


@pytest.fixture
def request_(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return Request.of("x.csv", Asked.of(ignore=["b"]))


def test_a_request_can_be_written_as_json(request_, tmp_path):
    assert Request.from_json(json.loads(json.dumps(request_.to_json()))) == request_
    assert (request_.path, request_.shown) == (str(tmp_path / "x.csv"), "x.csv")
    assert (request_.size, request_.format) == (8, "CSV")


def test_one_column_is_not_a_list_of_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a")
    with pytest.raises(InputError, match=r"ignore must be a list, got 'b'; pass \['b'\]"):
        Asked.of(ignore="b")


def test_pieces_of_a_file_and_of_bytes(request_):
    for data in (None, b"a,b\n1,3\n"):
        piece, end = read_pieces(request_, data)
        assert piece.series.values.tolist() == [[1.0]]
        assert end.times is None


class Panic(BaseException):
    """As polars raises."""


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (Panic("index out of bounds\nstack"), "x.csv cannot be read as CSV: it is damaged; "
         "its parser failed with 'index out of bounds'"),
        (MemoryError(), "x.csv cannot be read as CSV: it needs more memory than this machine has"),
        (TypeError(), "x.csv cannot be read as CSV: TypeError"),
    ],
)  # fmt: skip
def test_what_a_parser_raises_is_a_sentence(request_, monkeypatch, raised, message):
    def read_csv(*_, **__):
        raise raised

    monkeypatch.setattr(csv_module, "read_csv", read_csv)
    with pytest.raises(FileError) as caught:
        list(read_pieces(request_))
    assert str(caught.value) == message


def test_messages_are_short_and_on_one_line():
    assert to_sentence("a\n\x85°") == "a\\n\\x85°"
    assert len(to_sentence("a" * 5000)) < 1100
