from __future__ import annotations

import pytest

from axonad.data.readers.dialect import find_dialect, option, parse_separator, shown
from axonad.data.readers.records import RecordReader
from axonad.data.readers.source import Source
from axonad.errors import ChannelError, InputError


def find(text, separator=None):
    reader = RecordReader(Source(text.encode(), "x.csv"), 100)
    return find_dialect(reader, name="x.csv", separator=separator)


@pytest.mark.parametrize(
    ("text", "separator", "names"),
    [
        ("a,b\n1,2\n", ",", "a b"),
        ("a;b\n1;2\n", ";", "a b"),
        ("a\tb\n1\t2\n", "\t", "a b"),
        ("a|b\n1|2\n", "|", "a b"),
        ("a\n1\n", ",", "a"),
        ('"a;c",b\n1,2\n', ",", "a;c b"),
        ("a,x;b\n1,5;2\n3;4\n", ";", "a,x b"),
        ("a;b;c,d\n1;2;3\n", ";", "a b c,d"),
        ("sep=|\na|b\n1|2\n", "|", "a b"),
        ("sep=\t\na\tb\n1\t2\n", "\t", "a b"),
        (" a , b\n1,2\n", ",", "a b"),
    ],
)
def test_the_separator_is_found(text, separator, names):
    found = find(text)
    assert (found.separator, " ".join(found.names)) == (separator, names)


def test_a_given_separator_is_used():
    assert find("a,x;b\n1;2\n", ",").names == ("a", "x;b")
    assert find("a;b\n", "tab").names == ("a;b",)
    assert parse_separator(None) is None
    for wrong in ("", "ab", "§", '"', "\n"):
        with pytest.raises(InputError, match="separator must be one character"):
            parse_separator(wrong)


def test_a_decimal_comma_is_found():
    assert find("a;b\n1;2\n-1,5e3;2\n").has_decimal_comma
    assert not find("a;b\n1;2.5\n").has_decimal_comma
    assert not find("a,b\n1,2\n").has_decimal_comma
    assert not find("time;a\n1.5.2026, 10:00;1\n").has_decimal_comma


@pytest.mark.parametrize("text", ["a,b,,\n1,2,,\n", "a,b,,\n1,2\n", "a,b\n1,2,\n3,4,\n"])
def test_separators_at_the_end_of_lines_make_unnamed_columns(text):
    found = find(text)
    assert found.names[:2] == ("a", "b")
    assert found.unnamed == tuple(range(2, len(found.names)))


def test_words_above_numbers_seem_to_be_units():
    assert find("time,a\ns,m/s\n0,1\n").units == ("s", "m/s")
    assert find("time,a\nx,1\ny,2\n").units == ()
    assert find("a,b\nx,y\nz,w\n").units == ()


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("\n\n", InputError, "x.csv is empty"),
        (",,\n1,2,3\n", InputError, "no column names"),
        ("a,b,a\n1,2,3\n", ChannelError, "'a' appears more than once; .* in x.csv"),
        ("0.5,1\n1,2\n", InputError, "has no header line: it starts with numbers"),
        ("0,5;1,5\n1;2\n", InputError, "has no header line: it starts with numbers"),
        ("# by me\na,b\n1,2\n", InputError, r"line 1 of x\.csv is a comment \('# by me'\)"),
        ("By me\na,b,c\n1,2,3\n", InputError, r"line 1 .* no line of column names \('By me'\)"),
    ],
)
def test_a_first_line_that_names_no_columns_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        find(text)


def test_channels_may_be_numbered():
    assert find("0,1,2\n1,2,3\n").names == ("0", "1", "2")


def test_messages_quote_briefly_and_name_both_forms_of_an_option():
    assert shown("x\n" * 50) == repr("x\n" * 20 + "…")
    assert option("separator", ";") == "separator=';' (--separator ';')"
