"""Answers to rows, whatever becomes of them, and the counts of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from axonad import Session, make_detector
from axonad.cli.event_log import EventLog
from axonad.cli.stream_answers import Answers
from axonad.cli.stream_lines import Row
from axonad.data.series import Series
from axonad.errors import DataWarning, InputError
from axonad.stream import Fleet
from tests.conftest import waves

NAMES = ("speed", "yaw_rate", "torque")


@pytest.fixture(scope="module")
def detector():
    train = Series(values=waves(300), channels=NAMES, times=np.arange(300) / 10)
    return make_detector("ControlChart", memory=0.5, contamination=0.01).fit(train)


def row(values, time=None):
    return Row(list(values), time is not None, time, time)


def test_what_becomes_of_rows(detector):
    session = Session(detector, hold_limit=1)
    answers, X = Answers(session), waves(20, seed=1)
    bad = Row(InputError("not a JSON object"), True, "soon")
    assert [answers.answer(row(x)) for x in X[: detector.history - 1]] == [None] * 9
    good = answers.answer(row(X[9], 0.9))
    assert list(good) == ["step", "time", "score", "alarm"]
    assert (good["step"], good["time"]) == (9, 0.9)
    held = answers.answer(bad)
    assert (held["step"], held["time"], held["error"]) == (10, "soon", "not a JSON object")
    assert held["held"] == list(NAMES)
    refused = answers.answer(bad)
    assert list(refused) == ["step", "time", "error"]
    assert refused["error"].startswith("not a JSON object; channel 'speed' has been silent")
    stale = answers.answer(row([1.0, None, 2.0]))
    assert stale == {
        "step": 12, "error": "channel 'yaw_rate' has no value at row 12 and no earlier one to hold",
    }  # fmt: skip
    assert answers.answer(row(X[10])) is None
    assert answers.summary() == (
        "14 rows, 2 scored, 3 values held, 2 refused, 2 unreadable, 2 unreadable times"
    )
    assert (answers.rows, answers.usable, answers.first_error) == (14, 11, "not a JSON object")
    later = Answers(session)
    later.answer(row(X[11]))
    assert later.summary() == "1 row, 0 scored, 0 values held, 0 refused, 0 unreadable"


def test_a_score_that_overflows_is_an_error_and_clears_the_window():
    raw = make_detector("PCA", window=4, units="raw").fit(waves(300))
    answers, X = Answers(Session(raw)), waves(30, seed=1)
    for x in X[:10]:
        answers.answer(row(x))
    with np.errstate(all="ignore"):
        found = answers.answer(row([1e200, -1e200, 1e200]))
    assert list(found) == ["step", "error"]
    assert "scores that are not finite" in found["error"]
    assert [answers.answer(row(x)) is None for x in X[:5]] == [True] * 3 + [False] * 2


def test_channels_of_alarms_are_computed_once_and_only_for_them(detector, monkeypatch, tmp_path):
    calls = []
    attribution_of = Fleet._attribution_of

    def record(fleet, window):
        calls.append(answers.rows - 1)
        return attribution_of(fleet, window)

    monkeypatch.setattr(Fleet, "_attribution_of", record)
    X = waves(60, seed=1)
    X[30, 2] += 20
    answers = Answers(Session(detector))
    found = [a for x in X if (a := answers.answer(row(x))) is not None]
    alarms = [a["step"] for a in found if a["alarm"]]
    assert calls == alarms
    assert all(("channels" in a) == a["alarm"] for a in found)
    calls.clear()
    with EventLog(tmp_path / "e.csv") as log:
        answers = Answers(Session(detector, plain_events=True), log)
        for x in X:
            answers.answer(row(x))
    assert calls == alarms


def test_no_event_spans_a_gap_in_time(detector, tmp_path):
    X, times = waves(80, seed=1), np.arange(80) / 10
    X[38:40, 1] += 20
    X[62:64, 1] += 20
    times[40:] += 60
    with EventLog(tmp_path / "e.jsonl") as log:
        answers = Answers(Session(detector, plain_events=True), log)
        for x, time in zip(X, times.tolist(), strict=True):
            answers.answer(row(x, time))
        answers.finish(goes_on=False)
    with pytest.warns(DataWarning, match="1 gap in time"):
        expected = detector.explain(Series(values=X, channels=NAMES, times=times)).events(
            gap=detector.history // 4
        )
    found = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert [(e["start"], e["end"] + 1, e["peak"], tuple(e["channels"])) for e in found] == [
        (e.start, e.end, e.peak, e.channels) for e in expected
    ]
    assert found[0]["end"] == 39
    assert answers.summary().endswith(", 1 gap in time, 2 events")
