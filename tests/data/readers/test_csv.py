from __future__ import annotations

import pytest

import axonad
from axonad.errors import ChannelError, FileError, InputError


def write(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", InputError, "x.csv is empty"),
        ("a,a\n1,2\n", ChannelError, "'a' appears more than once"),
        ("a;b\n1;2\n", InputError, "separated by ';'; pass separator=';'"),
        ("0.5,1.5\n1,2\n", InputError, "no header line"),
        ("a,b\n1,2,3\n", FileError, "cannot be read as CSV"),
        (b"\xff\xfe\x00\x01\x02,\n", FileError, "cannot be read as CSV"),
    ],
)
def test_bad_csv_is_rejected(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        axonad.read(write(tmp_path, text))


def test_numbered_channels_are_fine(tmp_path):
    series = axonad.read(write(tmp_path, "0,1,Label\n0.1,0.2,0\n0.3,0.4,1\n"))
    assert series.channels == ("0", "1")


def test_other_separator_and_byte_order_mark(tmp_path):
    path = write(tmp_path, "\ufeffa;b\n1;2.5\n")
    assert axonad.read(path, separator=";").values.tolist() == [[1.0, 2.5]]


def test_integers_turning_to_floats_late(tmp_path):
    text = "a\n" + "1\n" * 5000 + "1.5\n"
    assert axonad.read(write(tmp_path, text)).values[-1, 0] == 1.5
