from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

import axonad
from axonad.data.readers import csv as csv_module
from axonad.data.readers import process
from axonad.data.readers import records as records_module
from axonad.data.readers.chunks import FileChunks
from axonad.errors import ChannelError, DataWarning, FileError, InputError


def write(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", InputError, "x.csv is empty"),
        ("a,a\n1,2\n", ChannelError, "'a' appears more than once"),
        ("0.5,1.5\n1,2\n", InputError, "no header line"),
        ("a,b\n1,2,3\n", FileError, "cannot be read as CSV: row 0 (line 2) has 3 cells"),
        ("a,b\n1,2\n3,4,5\n6\n", FileError, "row 1 (line 3) has 3 cells; expected 2"),
        ("a,b\n1,2\n# x\n", InputError, "row 1 (line 3) of x.csv is a comment ('# x')"),
        (
            "a,b\n1,2\nm,s\n",
            InputError,
            "column 'a' of x.csv is not numeric: 'm' in row 1 (line 3)",
        ),
        (",a\n0,1\n", InputError, "column 1 of x.csv has no name in line 1"),
        (
            "a,column 3,\n1,2,\n3,4,x\n",
            InputError,
            "column 3 of x.csv has no name in line 1, but 'x' in",
        ),
        ("a;b\n1.500;2\n3;4,5\n", InputError, "a decimal comma and others with a point"),
        ('a,b\n1,2\n3,"4\n', FileError, "quotation mark"),
        ('a,time\n1,"x"y\n', FileError, "cannot be read as CSV"),
        (b"\xff\xfe\x00\x01\x02,\n", FileError, "cannot be read as CSV"),
    ],
)
def test_bad_csv_is_rejected_at_once_and_in_chunks(tmp_path, text, error, message):
    path = write(tmp_path, text)
    for read in (axonad.read, lambda path: list(FileChunks(path, size=1))):
        with pytest.raises(error, match=re.escape(message)) as caught:
            read(path)
        assert len(str(caught.value).splitlines()) == 1


ROWS = [[1.5, -2.0], [3.0, float("nan")], [-0.25, 4.0]]
PLAIN = "time,oil °C,b\n0,1.5,-2\n1,3,\n2,-0.25,4\n"
COMMA = "time;oil °C;b\n0;1,5;-2\n1;3;\n2;-0,25;4\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "|"),
        COMMA,
        COMMA.replace(";", "\t"),
        COMMA.replace(";", "|"),
        PLAIN.encode("utf-16"),
        COMMA.encode("utf-8-sig"),
        COMMA.encode("latin-1"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace("1.5", '"1.5"').replace("oil °C", '"oil °C"'),
        COMMA.replace("\n", ";\n"),
        COMMA.replace("\n0", "\n0", 1).replace("-2\n", "-2;\n").replace("\n1;3;", "\n1;3;;")
        .replace("25;4", "25;4;"),
        PLAIN + "\n\n  \n",
        PLAIN.replace(",", ", "),
        f"sep=;\n{COMMA}",
        COMMA.replace("0;1,5", "0,0;1,5"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_every_dialect_gives_the_same_series(tmp_path, text, suffix):
    data = text.encode() if isinstance(text, str) else text
    path = tmp_path / f"x{suffix}"
    path.write_bytes(gzip.compress(data) if suffix == ".csv.gz" else data)
    whole = axonad.read(path)
    assert whole.channels == ("oil °C", "b")
    np.testing.assert_array_equal(whole.values, ROWS)
    assert whole.times.tolist() == [0, 1, 2]
    for size in (1, 2):
        chunks = list(FileChunks(path, size=size))
        np.testing.assert_array_equal(np.concatenate([c.values for c in chunks]), ROWS)
        assert np.concatenate([c.times for c in chunks]).tolist() == [0, 1, 2]


def test_rows_with_too_few_cells_are_noted(tmp_path):
    path = write(tmp_path, "a,b,c\n1,2,3\n4\n\n5,6,7\n")
    note = r"row 1 \(line 3\) of x.csv has 1 of 3 cells; the others count as missing"
    with pytest.warns(DataWarning, match=note):
        values = axonad.read(path).values
    assert np.isnan(values).sum(axis=1).tolist() == [0, 2, 3, 0]
    chunks = FileChunks(path, size=2)
    with pytest.warns(DataWarning, match=note):
        next(iter(chunks))
    assert len(list(chunks)) == 2, "noted once"


def test_many_rows_with_too_few_cells_take_no_longer(tmp_path):
    path = write(tmp_path, "a,b\n" + "1\n" * 200_000)
    with pytest.warns(DataWarning, match=r"row 0 \(line 2\)"):
        assert len(axonad.read(path)) == 200_000


def test_a_decimal_comma_may_come_late(tmp_path):
    text = "a;b\n" + "1;2\n" * 50 + "3,5;4\n"
    assert axonad.read(write(tmp_path, text)).values[-1].tolist() == [3.5, 4]
    *_, last = FileChunks(tmp_path / "x.csv", size=10)
    assert last.values.tolist() == [[3.5, 4]]


def test_thousands_of_columns(tmp_path):
    header = ";".join(f"c{i}" for i in range(2000))
    text = f"{header}\n" + (";".join(["1,5 "] * 2000) + "\n") * 3
    whole = axonad.read(write(tmp_path, text))
    assert whole.values.shape == (3, 2000)
    assert (whole.values == 1.5).all()


def test_blocks_of_a_large_file_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_can_start", False)
    process.close_all()
    monkeypatch.setattr(csv_module, "BLOCK", 50)
    monkeypatch.setattr(records_module, "FIRST_BLOCK", 50)
    rows = "".join(f"{i},{i / 4},{i % 2}\n" for i in range(100))
    series = axonad.read(write(tmp_path, f"time,a,Label\n{rows}100 s,1,0\n"))
    assert series.times.tolist() == [*map(str, range(100)), "100 s"], "one type for all blocks"
    assert series.values[:100, 0].tolist() == [i / 4 for i in range(100)]
    assert series.labels.tolist() == [*(i % 2 for i in range(100)), 0]


def test_numbered_channels_are_fine(tmp_path):
    series = axonad.read(write(tmp_path, "0,1,Label\n0.1,0.2,0\n0.3,0.4,1\n"))
    assert series.channels == ("0", "1")


def test_other_separator_and_byte_order_mark(tmp_path):
    path = write(tmp_path, "\ufeffa:b\n1:2.5\n")
    assert axonad.read(path, separator=":").values.tolist() == [[1.0, 2.5]]
    path = write(tmp_path, "a,x\tb\n1\t2.5\n")
    for tab in ("\t", "tab", r"\t"):
        assert axonad.read(path, separator=tab).values.tolist() == [[1.0, 2.5]]


def test_integers_turning_to_floats_late(tmp_path):
    text = "a\n" + "1\n" * 5000 + "1.5\n"
    assert axonad.read(write(tmp_path, text)).values[-1, 0] == 1.5


def test_units_in_the_second_line(tmp_path):
    text = "time;speed;oil;x\ns;[km/h];°C;-\n0;1,5;2;3\n1;2,5;;4\n"
    series = axonad.read(write(tmp_path, b"\xef\xbb\xbf" + text.encode()))
    assert (series.channels, series.units) == (("speed", "oil", "x"), ("km/h", "°C", ""))
    assert series.values[:, 0].tolist() == [1.5, 2.5]
    assert [chunk.units for chunk in FileChunks(tmp_path / "x.csv", size=1)] == [series.units] * 2
    assert series.keep(["oil"]).units == ("°C",)
    for text in ("a,b\nNA,\n1,2\n", "time,a\nmonday,NA\ntuesday,1\n", "a,b\ntrue,false\n1,0\n"):
        series = axonad.read(write(tmp_path, text))
        assert (len(series), series.units) == (2, None)


def test_columns_are_chosen_by_patterns_and_renamed(tmp_path):
    text = "time,v_front,v_rear,gear,Label\n0,1,2,3,0\n1,4,5,6,1\n"
    path = write(tmp_path, text)
    assert axonad.read(path, channels=["v_*"]).channels == ("v_front", "v_rear")
    assert axonad.read(path, ignore=["v_?r*"], label="Label").channels == ("v_rear", "gear")
    series = axonad.read(path, rename={"v_rear": "rear", "none": "x"}, channels=["rear"])
    assert (series.channels, series.values.tolist()) == (("rear",), [[2.0], [5.0]])
    with pytest.raises(ChannelError, match=r"'gear' appears more than once.*with rename"):
        axonad.read(path, rename={"v_rear": "gear"})
    with pytest.raises(ChannelError, match=r"x\.csv has no column that fits 'q\*'; columns: "):
        axonad.read(path, channels=["q*"])
