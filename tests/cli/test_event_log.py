"""The file of events: appended line by line, and mended after a crash."""

from __future__ import annotations

import json

import pytest

from axonad.alarmed import TimedEvent
from axonad.cli.event_log import COLUMNS, HEADER, EventLog
from axonad.errors import FileError, UnknownNameError
from axonad.threshold import Event

FIRST = TimedEvent(Event(3, 6, 4, 2.5, ("yaw, rate", "speed")), "08:00", "08:02")
SECOND = TimedEvent(Event(9, 10, 9, 1.5), 9, 9)


def write(path, *events, **options):
    with EventLog(path, **options) as log:
        for event in events:
            log.write(event)
            yield path.read_text()


def test_csv(tmp_path):
    *_, text = write(tmp_path / "new" / "e.csv", FIRST, SECOND)
    assert text.splitlines() == [
        "from,to,start,end,peak,score,channels", '08:00,08:02,3,5,4,2.5,"yaw, rate speed"',
        "9,9,9,9,9,1.5,",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_json_lines(tmp_path, ending):
    first, text = write(tmp_path / f"e.{ending}", FIRST, SECOND)
    assert first.endswith("\n"), "a line is written when the event has ended"
    assert [json.loads(line) for line in text.splitlines()] == [
        dict(zip(COLUMNS, ("08:00", "08:02", 3, 5, 4, 2.5, ["yaw, rate", "speed"]), strict=True)),
        dict(zip(COLUMNS, (9, 9, 9, 9, 9, 1.5, []), strict=True)),
    ]


@pytest.mark.parametrize("name", ["e.csv", "e.jsonl"])
@pytest.mark.parametrize("torn", [0, 5])
def test_resumed_after_a_crash(tmp_path, name, torn):
    path = tmp_path / name
    *_, whole = write(path, FIRST, SECOND)
    text = whole if not torn else whole[:-torn]
    path.write_text(text)
    *_, found = write(path, SECOND, resume=True)
    assert found == whole, "neither a torn line nor a line twice"
    path.write_text(HEADER[:7] if name == "e.csv" else "")
    *_, found = write(path, FIRST, SECOND, resume=True)
    assert found == whole


def test_files_of_others_are_left_alone(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("mine")
    EventLog(path, force=True).close()  # a command that was refused before its first row
    for options in ({}, {"resume": True}):
        with pytest.raises(FileError, match=r"e.csv (already exists|holds no events)"):
            EventLog(path, **options)
        assert path.read_text() == "mine"
    *_, text = write(path, SECOND, force=True)
    assert text.startswith(HEADER)
    with pytest.raises(UnknownNameError, match=r"its ending must be one of .csv, .jsonl, .json"):
        EventLog(tmp_path / "e.txt")
    with pytest.raises(FileError, match="is a folder"):
        (tmp_path / "f.csv").mkdir()
        EventLog(tmp_path / "f.csv", force=True)
