from __future__ import annotations

import random

import pytest

from axonad.data.readers import records as records_module
from axonad.data.readers.records import RecordReader
from axonad.data.readers.source import Source
from axonad.errors import FileError

RECORDS = [b"a,b", b"1,2", b'"x\ny",3', b"", b"5,6", b'"""",8', b'"\n\n",9']
TEXT = b"\n\n" + b"\n".join(RECORDS) + b"\n \n\n"


def reader(text, block=5):
    return RecordReader(Source(text, "x.csv"), block)


@pytest.mark.parametrize("block", [1, 2, 5, 100])
@pytest.mark.parametrize("count", [1, 2, 3, 50])
@pytest.mark.parametrize("tail", [b"", b"\n", b"\n\n \n"])
def test_records_are_cut_at_line_ends_outside_of_quotation_marks(monkeypatch, block, count, tail):
    monkeypatch.setattr(records_module, "FIRST_BLOCK", block)
    monkeypatch.setattr("axonad.data.readers.source.SAMPLE", 4)
    text = b"\n\n" + b"\n".join(RECORDS) + tail
    found, lines = [], []
    file = reader(text, block)
    while (part := file.take(count)).count:
        assert len(part.lines) == part.count <= count
        assert part.text.endswith(b"\n")
        lines += [part.line_of(row) for row in range(part.count)]
        found += part.lines
    assert found == RECORDS
    assert lines == [3, 4, 5, 7, 8, 9, 10]


def test_blocks_hold_all_records_in_order():
    rows = b"".join(b"%d,%d\n" % (i, i) for i in range(1000))
    file = RecordReader(Source(rows, "x.csv"), 64)
    parts = list(iter(lambda: file.take_block().text, b""))
    assert b"".join(parts) == rows


def test_peeking_takes_nothing():
    file = reader(TEXT)
    assert file.peek(2) == [b"a,b", b"1,2"]
    assert file.take(1).text == b"a,b\n"


def test_cells_of_a_record_are_counted():
    part = reader(b'a,b\n"1,2",3,4\n\n5\n6,7').take(9)
    assert part.cells(",").tolist() == [2, 3, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a\n" + b"1" * 300, "line 2 does not end within"),
        (b"a\n" + b'"' + b"1\n" * 200, r"a quotation mark \(\"\) that opens in or after line 2"),
        (b"a\n1" + b"\n" * 300 + b"2", "the blank lines from line 3 on do not end"),
        (b'a\n1\n"2\n3\n', ".* in or after line 3 is not closed before the end of the file"),
    ],
)
def test_a_record_has_an_end(monkeypatch, text, message):
    monkeypatch.setattr(records_module, "LONGEST_RECORD", 100)
    monkeypatch.setattr(records_module, "FIRST_BLOCK", 16)
    monkeypatch.setattr("axonad.data.readers.source.SAMPLE", 4)
    file = reader(text, 16)
    with pytest.raises(FileError, match=rf"^x\.csv cannot be read as CSV: {message}"):
        while file.take(1).count:
            pass


def test_no_bytes_are_lost_at_random_cuts(monkeypatch):
    rng = random.Random(0)
    for _ in range(100):
        text = bytes(rng.choice(b'a"\n,') for _ in range(60)) + b"x"
        text += b'"' * (text.count(b'"') % 2)
        monkeypatch.setattr("axonad.data.readers.source.SAMPLE", 4)
        monkeypatch.setattr(records_module, "FIRST_BLOCK", rng.randrange(1, 70))
        file, found = reader(text, rng.randrange(1, 20)), b""
        while (part := file.take(rng.randrange(1, 4))).count:
            found += part.text
        assert found == text.lstrip(b"\n") + b"\n"
