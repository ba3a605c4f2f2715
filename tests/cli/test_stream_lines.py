"""Lines of a stream as rows, in the format that the first line decides."""

from __future__ import annotations

import io

import pytest

from axonad.cli import stream_lines
from axonad.cli.stream_lines import LineReader, Row, read_lines
from axonad.errors import ChannelError, InputError

NAMES = ("a", "b")


def rows(*lines, names=NAMES, **options):
    reader = LineReader(names, 2, **options)
    return list(reader.read(line + "\n" for line in lines))


def values(*lines, **options):
    return [
        str(row.values) if isinstance(row.values, InputError) else row.values
        for row in rows(*lines, **options)
    ]


def test_the_first_line_decides_the_format():
    assert values('{"a": 1, "b": 2}', "3,4", "a,b", '{"b": 5}') == [
        {"a": 1, "b": 2}, "not a JSON object: Extra data: line 1 column 2 (char 1)",
        "not a JSON object: Expecting value: line 1 column 1 (char 0)", {"b": 5},
    ]  # fmt: skip
    assert values("", "  ", "\ufeffb,a", "1,2", '{"a": 1, "b": 2}', "a,b", "", "3,") == [
        {"b": 1.0, "a": 2.0}, "'{\"a\": 1' is not a number", "'a' is not a number",
        {"b": 3.0, "a": None},
    ]  # fmt: skip
    assert values("1,2", "a,b", "x", "3,4") == [
        [1.0, 2.0], "'a' is not a number", "'x' is not a number", [3.0, 4.0],
    ]  # fmt: skip


def test_a_first_line_that_cannot_be_split_decides_nothing():
    found = values("9" * 50_000, "b;a", "1;2")
    problem = "not a CSV line: a cell is longer than 10000 characters"
    assert found == [problem, {"b": 1.0, "a": 2.0}]


def test_the_format_can_be_given():
    assert values('eed": 1}', '{"a": 1}', form="json") == [
        "not a JSON object: Expecting value: line 1 column 1 (char 0)", {"a": 1},
    ]  # fmt: skip
    assert values("[1, 2]", "5", '"a"', form="json") == [
        "not a JSON object: [1, 2]", "not a JSON object: 5", 'not a JSON object: "a"',
    ]  # fmt: skip
    with pytest.raises(ChannelError, match="the header lacks 'a', 'b'"):
        values('{"a": 1}', form="csv")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separated_values(separator):
    def line(*cells):
        return separator.join(cells)

    found = rows(line("a", "time", "b"), line("", "7", "2.5"), line("NA", "", "null"), "\r")
    assert found == [
        Row({"a": None, "b": 2.5}, True, 7, 7.0),
        Row({"a": None, "b": None}, True),
    ]
    assert values(line("a", "b"), line("", "")) == [{"a": None, "b": None}]
    assert values(line("1", "2"), line("", "3")) == [[1.0, 2.0], [None, 3.0]]
    assert values(line("a", "b"), line("1", "2", "3")) == [
        "expected 2 values as in the header, got 3"
    ]


def test_a_decimal_comma_is_named():
    assert values("a;b", "1,5;2") == ["'1,5' is not a number; write a decimal point"]


def test_a_model_without_names_takes_columns_in_order():
    assert values("t_s,x,y", "0,1,2", names=None) == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("cell", "time", "second"),
    [
        ("12", 12, 12.0), ("12.5", 12.5, 12.5), ("-3", -3.0, -3.0), ("1e400", None, None),
        ("1970-01-01T00:00:05Z", "1970-01-01T00:00:05Z", 5.0), ("soon", "soon", None),
        ("NA", None, None), ("nan", None, None),
        ("1700000000123456789", 1700000000123456789, 1.700000000123456789e18),
        ("9" * 400, None, None),
    ],
)  # fmt: skip
def test_times_of_csv_are_kept_as_they_came(cell, time, second):
    (row,) = rows("a,b,Time", f"1,2,{cell}")
    assert (row.has_time, row.time) == (True, time)
    assert row.second == pytest.approx(second)


@pytest.mark.parametrize(
    ("text", "time", "second"),
    [
        ("12", 12, 12.0), ('"1970-01-01"', "1970-01-01", 0.0), ('"x"', "x", None),
        ("NaN", None, None), ("null", None, None), ("true", None, None), ("[1]", None, None),
        ("1e999", None, None), ("9" * 400, None, None),
    ],
)  # fmt: skip
def test_times_of_json_are_kept_as_they_came(text, time, second):
    (row,) = rows(f'{{"a": 1, "timestamp": {text}, "label": 0, "b": 2}}')
    assert row == Row({"a": 1, "b": 2}, True, time, second)


def test_the_time_column_can_be_named():
    assert rows("a,b,clock", "1,2,3", time="clock") == [Row({"a": 1.0, "b": 2.0}, True, 3, 3.0)]
    found = rows('{"a": 1, "clock": 3}', '{"a": 1, "time": 3}', time="clock")
    assert found == [Row({"a": 1}, True, 3, 3.0), Row({"a": 1, "time": 3})]


def test_json_that_cannot_be_meant():
    found = values('{"a": 1, "a": 2}', "{" * 100_000, '{"a": ' + "9" * 5000 + "}", form="json")
    assert found[0] == "'a' appears more than once in the object"
    assert all(str(one).startswith("not a JSON object") for one in found[1:])


def test_long_lines_are_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(stream_lines, "LONGEST", 10)
    lines = list(read_lines(io.StringIO("a,b\n" + "9" * 35 + "\n1,2\n" + "9" * 22)))
    assert lines == ["a,b\n", "9" * 11, "1,2\n", "9" * 11]
    found = list(LineReader(NAMES, 2).read(lines))
    assert [type(row.values) for row in found] == [InputError, dict, InputError]
    assert "the line has more than 10 characters" in str(found[0].values)
