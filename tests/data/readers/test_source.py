from __future__ import annotations

import gzip

import pytest

from axonad.data.readers.source import Source, to_utf8
from axonad.errors import FileError, InputError

TEXT = "a,oil °C\n1,2\n" * 30


def read_all(data, size=7):
    with Source(data, "x.csv") as source:
        return b"".join(iter(lambda: source.read(size), b"")).decode()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_encodings_and_line_ends_are_evened_out(monkeypatch, encoding, end, size):
    monkeypatch.setattr("axonad.data.readers.source.SAMPLE", 80)
    assert read_all(TEXT.replace("\n", end).encode(encoding), size) == TEXT


def test_a_carriage_return_inside_of_a_line_is_kept():
    assert read_all(b"a\n1\r2\n3\r\n") == "a\n1\r2\n3\n"


def test_lines_that_are_not_utf_8_are_latin_1():
    assert to_utf8("µ\n".encode() + b"\xb5\n").decode() == "µ\nµ\n"


def test_a_suffix_decides_on_decompression(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert read_all(path) == TEXT


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", InputError, "x.csv is empty"),
        ("a,b\n".encode("utf-16-le"), FileError, "holds NUL bytes; expected text in UTF-8"),
        (b"\xff\xfea", FileError, "cannot be read as CSV: .*truncated data"),
    ],
)
def test_what_is_not_text_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        read_all(data)


def test_damaged_and_missing_files_are_named(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(FileError, match=r"^x\.csv cannot be read as CSV: Compressed file ended"):
        read_all(path)
    with pytest.raises(FileError, match=r"^x\.csv cannot be read: No such file"):
        read_all(tmp_path / "none.csv")
