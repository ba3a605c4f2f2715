"""``axonad stream`` with a model that has alarms: events beside scores, and after a crash."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.alarms.bad_data import DataRules
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.setup import AlarmSetup
from axonad.data.series import Series
from tests.cli.small_runs import NAMES, assert_one_red_line
from tests.cli.test_stream_state import answers_of, assert_same
from tests.conftest import waves


@pytest.fixture
def alarmed(tmp_path):
    """A saved model with alarms."""
    normal = Series(values=waves(500), channels=tuple(NAMES), times=np.arange(500) / 10.0)
    detector = axonad.make_detector("CrossChannelRidge").fit(normal)
    start = 3 * float(detector.decision_scores_.max())
    policy = AlarmPolicy(
        start=start, end=start / 2, level=0.0, merge_gap=5, min_duration=2,
        rise=0.3, settle=0.01, recover=0.01, allowance=0.02,
    )  # fmt: skip
    rules = DataRules.learn([normal.values], names=tuple(NAMES))
    detector.set_alarms(AlarmSetup(policy, rules))
    detector.save(tmp_path / "m")
    return tmp_path / "m"


def lines():
    """A header and 160 rows with a fault at 40, a frozen channel from 80 and a fault at 130."""
    X = waves(160, seed=5)
    X[40:50, 1] += 1.5
    X[80:115, 2] = X[80, 2]
    X[130:140, 0] += 1.5
    times = pl.Series("t_s", np.arange(160) / 10)
    return pl.DataFrame(X, schema=NAMES).insert_column(0, times).write_csv().splitlines()


def read_events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_events_say_why(run, alarmed, tmp_path):
    words = ("stream", alarmed, "--events", "e.jsonl", "--explain", "--state", "s.json")
    rows = lines()
    code, out, _ = run(*words, stdin="\n".join(rows[:46]))  # the second run resumes in a fault
    assert code == 0
    code, more, _ = run(*words, stdin="\n".join([rows[0], *rows[46:]]))
    assert code == 0
    news = [e for a in answers_of(out + more) for e in a.get("events", ()) if e["number"] == 1]
    told = [(e["what"], e["why"]["channels"]) for e in news if e["class"] == "anomaly"]
    assert told == [("fired", ["yaw_rate"]), ("resolved", ["yaw_rate"])]
    assert not any("why" in e for e in news if e["class"] == "data")
    first = next(e for e in read_events(tmp_path / "e.jsonl") if e["class"] == "anomaly")
    assert first["why"]["sentence"].startswith("yaw_rate ")
    assert first["why"]["courses"][0]["channel"] == "yaw_rate"
    resolved = next(e for e in news if e["what"] == "resolved" and e["class"] == "anomaly")
    assert resolved["why"]["sentence"] == first["why"]["sentence"]


def test_news_of_events_beside_scores_and_final_events_in_the_file(run, alarmed, tmp_path):
    words = ("stream", alarmed, "--events", "e.jsonl")
    code, out, err = run(*words, stdin="\n".join(lines()))
    assert code == 0
    answers = answers_of(out)
    news = [(a["step"], e["what"], e["class"]) for a in answers for e in a.get("events", ())]
    assert (41, "fired", "anomaly") in news, "pending at row 40, fired at 41"
    assert (90, "fired", "data") in news
    (frozen,) = [e for a in answers for e in a.get("events", ()) if e["class"] == "data"]
    assert (frozen["reason"], frozen["start"], frozen["channels"]) == ("frozen", 80, ["torque"])
    written = read_events(tmp_path / "e.jsonl")
    data = [event for event in written if event["class"] == "data"]
    assert [(e["from"], e["to"], e["start"], e["end"]) for e in data] == [(8.0, 11.4, 80, 114)]
    first = written[0]
    assert (first["start"], first["from"], first["class"]) == (40, 4.0, "anomaly")
    assert first["fired"] == 41
    assert f"{len(written)} event" in err


def test_the_events_are_those_of_score(run, alarmed, tmp_path):
    (tmp_path / "d.csv").write_text("\n".join(lines()) + "\n")
    assert run("score", alarmed, "d.csv", "-o", "s.csv", "--events", "score.csv")[0] == 0
    code, _, _ = run("stream", alarmed, "--events", "live.csv", stdin="\n".join(lines()))
    assert code == 0
    one, other = (pl.read_csv(tmp_path / name).sort("start") for name in ("score.csv", "live.csv"))
    assert one.columns == other.columns
    assert one.drop("score").equals(other.drop("score"))


def test_a_killed_stream_resumes_with_the_same_events(run, alarmed, tmp_path):
    rows = lines()
    assert run("stream", alarmed, "--events", "whole.jsonl", stdin="\n".join(rows))[0] == 0
    expected = read_events(tmp_path / "whole.jsonl")
    words = [
        "stream",
        str(alarmed),
        "--state",
        "s.json",
        "--save-every",
        "3",
        "--events",
        "e.jsonl",
    ]
    lifts = []
    for stop in (44, 95):  # in a fault, and while a channel is frozen
        start = 0
        if (tmp_path / "s.json").exists():
            start = json.loads((tmp_path / "s.json").read_text())["counts"][0]
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "axonad", *words], cwd=tmp_path, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ) as process:  # fmt: skip
            process.stdin.write("\n".join([rows[0], *rows[1 + start : 1 + stop]]) + "\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline())["step"] < stop - 1:
                pass
            process.kill()
            process.wait(timeout=60)
        assert process.returncode == -signal.SIGKILL
        state = json.loads((tmp_path / "s.json").read_text())
        lifts.append(state["events"]["scores"]["threshold"]["after"])
    assert lifts[0] > 0, "killed while the thresholds are raised"
    saved = json.loads((tmp_path / "s.json").read_text())["counts"][0]
    assert run(*words, stdin="\n".join([rows[0], *rows[1 + saved :]]))[0] == 0
    found = read_events(tmp_path / "e.jsonl")
    assert_same(found, [event for event in expected if event["end"] < 159])
    assert len({json.dumps(event) for event in found}) == len(found)


def test_alarms_only_lets_news_through(run, alarmed):
    code, out, _ = run("stream", alarmed, "--alarms-only", stdin="\n".join(lines()))
    assert code == 0
    answers = answers_of(out)
    assert all(answer["alarm"] or "events" in answer for answer in answers)
    assert any(not answer["alarm"] for answer in answers)


def test_another_threshold_cannot_go_on_with_the_state(run, alarmed):
    rows = "\n".join(lines())
    assert run("stream", alarmed, "--state", "s.json", stdin=rows)[0] == 0
    assert_one_red_line(
        run("stream", alarmed, "--state", "s.json", "--threshold", "9", stdin=rows),
        "saved with another alarm policy; use the model and options it was saved with",
    )
