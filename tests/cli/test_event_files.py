"""Files of events."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from axonad.alarmed import TimedEvent
from axonad.cli.event_files import event_record, write_events
from axonad.threshold import Event

EVENT = Event(3, 6, 4, 7.5, ("yaw_rate", "speed"))


def test_csv_and_json_hold_the_same(tmp_path):
    events = [TimedEvent(EVENT, np.datetime64("2026-01-01T12:00:03"), np.datetime64("NaT"))]
    write_events(tmp_path / "e.json", events)
    write_events(tmp_path / "e.csv", events)
    (listed,) = json.loads((tmp_path / "e.json").read_text())
    assert listed == {
        "from": "2026-01-01T12:00:03", "to": "NaT", "start": 3, "end": 5, "peak": 4, "score": 7.5,
        "channels": ["yaw_rate", "speed"],
    }  # fmt: skip
    table = pl.read_csv(tmp_path / "e.csv").row(0, named=True)
    assert table == listed | {"channels": "yaw_rate speed"}
    write_events(tmp_path / "none.csv", [])
    assert (tmp_path / "none.csv").read_text() == "from,to,start,end,peak,score,channels\n"


@pytest.mark.parametrize(
    ("time", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (float("nan"), None),
        ("12:00", "12:00"),
        (None, None),
    ],
)
def test_times_are_json_values(time, plain):
    assert event_record(TimedEvent(EVENT, time, 5))["from"] == plain
