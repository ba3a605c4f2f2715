"""The first line of a CSV stream."""

from __future__ import annotations

import csv

import pytest

from axonad.cli.csv_header import Header, is_header, parse_number, read_header, split_line
from axonad.errors import ChannelError

NAMES = ("speed", "yaw_rate", "torque")


def read(text, names=NAMES, *, channels=3, time=None, ignore_extra=False):
    _, cells = split_line(text, names)
    return read_header(cells, names, channels=channels, time=time, ignore_extra=ignore_extra)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator):
    names = ("speed", "yaw, rate", "torque")
    cells = ["Time", "torque", '"yaw, rate"', "speed"]
    assert split_line(separator.join(cells), names) == (
        separator, ["Time", "torque", "yaw, rate", "speed"],
    )  # fmt: skip
    assert split_line(separator.join(["1", "2.5", "3"]), None)[0] == separator


def test_a_header_may_be_long():
    names = tuple(f"channel number {i}" for i in range(10_000))
    assert split_line(",".join(names), names) == (",", list(names))
    with pytest.raises(csv.Error):
        split_line("x" * 200_000, names)


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("speed,yaw_rate,torque", NAMES, True),
        ("a,b,c", NAMES, True),
        ("a,b,c", None, True),
        ("0.1,0.2,0.3", NAMES, False),
        ("0.1,NA,", NAMES, False),
        ("NA,,", NAMES, False),
        ("0,1,2", ("0", "1", "2"), True),
        ("2,0,1,time", ("0", "1", "2"), True),
        ("0,1,3", ("0", "1", "2"), False),
        ("speed,yaw_rate,3", NAMES, True),
        ("x,0.2,0.3", NAMES, False),
    ],
)
def test_what_is_a_header(text, names, expected):
    assert is_header(text.split(","), names) is expected


def test_columns_by_name():
    found = read(" torque ,Timestamp,speed,Label,yaw_rate")
    assert found == Header(5, (0, 2, 4), ("torque", "speed", "yaw_rate"), 1)
    assert read("speed,yaw_rate,torque,clock", time="clock").time == 3
    wide = read("gps,speed,yaw_rate,torque,note", ignore_extra=True)
    assert wide == Header(5, (1, 2, 3), NAMES, None)
    assert read("t_s,a,b,c", None) == Header(4, (1, 2, 3), None, 0)
    assert read("time,t_s,b", ("t_s", "b"), channels=2) == Header(3, (1, 2), ("t_s", "b"), 0)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("speed,gps,note", {}, "the header lacks 'yaw_rate', 'torque' and has 'gps', 'note', which "
         "the model does not know; name all channels of the model"),
        ("speed,yaw_rate", {"ignore_extra": True}, "the header lacks 'torque'; name all channels"),
        ("speed,yaw_rate,torque,a,b", {}, "the header has 'a', 'b', which the model does not know; "
         "drop them with --ignore-extra, or fit again with them"),
        ("speed,yaw_rate,torque,a", {}, "drop it with --ignore-extra"),
        ("hello", {}, "first line must be a JSON object, the names of the channels, or numbers"),
        ("speed,yaw_rate,torque,speed", {}, "channel name 'speed' appears more than once"),
        ("speed,yaw_rate,torque,clok", {"time": "clock"}, "no column 'clock'; did you mean 'clok'"),
        ("a,b", {"names": None}, r"the input has 2 channels \('a', 'b'\); the model has 3"),
    ],
)  # fmt: skip
def test_headers_that_cannot_serve(text, options, message):
    with pytest.raises(ChannelError, match=message):
        read(text, **options)


def test_numbers():
    assert [parse_number(text) for text in ("1.5", " 2 ", "1e400", "x", "1_000", "")] == [
        1.5, 2.0, float("inf"), None, None, None,
    ]  # fmt: skip
