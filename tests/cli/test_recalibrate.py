"""``axonad recalibrate``, and what ``axonad score`` does with a model that has alarms."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import axonad
from tests.cli.small_runs import NAMES, assert_one_red_line, frame
from tests.conftest import waves

RIDGE = ["--detector", "CrossChannelRidge"]


@pytest.fixture
def ready(run, tmp_path):
    """A model, two normal recordings and a command that recalibrates the model with them."""
    frame(400, time=True).write_csv(tmp_path / "train.csv")
    for seed in (1, 2):
        frame(300, seed=seed, time=True).write_csv(tmp_path / f"n{seed}.csv")
    assert run("fit", "train.csv", "-o", "m", *RIDGE)[0] == 0

    def recalibrate(*words, budget="400 per hour", out="new"):
        return run("recalibrate", "m", "n1.csv", "n2.csv", "--budget", budget, "-o", out, *words)

    return recalibrate


def drive(path, rows=400):
    X = waves(rows, seed=5)
    X[100:130, 1] += 2
    X[200:260, 2] = X[200, 2]
    data = pl.DataFrame(X, schema=NAMES).with_columns(t_s=pl.Series(np.arange(rows) / 10))
    data.write_csv(path)


def test_a_new_model_with_a_policy_and_the_old_threshold(ready, tmp_path):
    code, out, err = ready()
    assert code == 0
    old, new = axonad.load(tmp_path / "m"), axonad.load(tmp_path / "new")
    setup = new.alarm_setup_
    assert old.alarm_setup_ is None
    assert setup.before == ({"version": 0, "threshold": old.threshold_},)
    assert new.threshold_ == setup.policy.start
    assert setup.calibration["budget"] == "400 per hour"
    assert "of normal data" in out
    assert "per hour (95 % interval" in out
    assert "each recording with the threshold of the others" in out
    assert f"alarms version 1: start {old.threshold_:.4g} before, {new.threshold_:.4g} now" in out
    assert "saved to new" in out
    assert err == ""


def test_short_data_says_what_it_cannot_promise(ready):
    code, _, err = ready(budget="1 per hour")
    assert code == 0
    assert "0.0167 h of normal data cannot promise fewer than 180 per hour at 95 %" in err


def test_score_uses_the_policy_and_reports_bad_data(ready, run, tmp_path):
    assert ready()[0] == 0
    drive(tmp_path / "d.csv")
    outputs = []
    for words in ((), ("--chunk", "70")):
        code, out, _ = run(
            "score", "new", "d.csv", "-o", "s.csv", "--events", "e.json", "--force", *words
        )
        assert code == 0
        found = json.loads((tmp_path / "e.json").read_text())
        outputs.append((out, found))
    (out, found), chunked = outputs
    names = [name for name in found[0] if name != "score"]  # scores of chunks differ by rounding
    assert [[e[name] for name in names] for e in chunked[1]] == [
        [e[name] for name in names] for e in found
    ]
    (data,) = [event for event in found if event["class"] == "data"]
    assert (data["reason"], data["channels"], data["start"], data["end"]) == (
        "frozen", ["torque"], 200, 259
    )  # fmt: skip
    assert (data["from"], data["to"], data["score"]) == (20.0, 25.9, None)
    faults = [event for event in found if event["class"] == "anomaly"]
    assert any(event["severity"] == "critical" and event["start"] <= 130 for event in faults)
    assert "1 event of bad data, beside the score" in out
    assert "frozen" in out
    assert "critical" in out


def test_events_as_csv_and_live_alignment(ready, run, tmp_path):
    assert ready()[0] == 0
    drive(tmp_path / "d.csv")
    assert run("score", "new", "d.csv", "-o", "s.csv", "--events", "e.csv")[0] == 0
    table = pl.read_csv(tmp_path / "e.csv")
    assert table.columns == [
        "from", "to", "start", "end", "peak", "score", "channels", "class", "severity", "reason",
        "fired", "drift",
    ]  # fmt: skip
    assert set(table["class"]) == {"anomaly", "data"}
    assert run("score", "m", "d.csv", "-o", "t.csv", "--events", "f.csv")[0] == 0
    assert pl.read_csv(tmp_path / "f.csv").columns == table.columns[:7], "as before without alarms"


def test_missing_values_are_seen_before_they_are_filled(ready, run, tmp_path):
    assert ready()[0] == 0
    X = waves(200, seed=5)
    X[50:90, 0] = np.nan
    pl.DataFrame(X, schema=NAMES).fill_nan(None).write_csv(tmp_path / "d.csv")
    for words in ((), ("--chunk", "64")):
        run("score", "new", "d.csv", "-o", "s.csv", "--events", "e.json", "--fill", "hold",
            "--force", *words)  # fmt: skip
        found = json.loads((tmp_path / "e.json").read_text())
        data = [event for event in found if event["class"] == "data"]
        assert [(e["reason"], e["start"], e["end"]) for e in data] == [("missing", 50, 89)]


def test_a_given_threshold_moves_the_policy(ready, run, tmp_path):
    assert ready()[0] == 0
    drive(tmp_path / "d.csv")
    _, out, _ = run("score", "new", "d.csv", "-o", "s.csv", "--threshold", "1e9")
    assert out.startswith("0 events in 400 steps")


def test_refit_settings_and_steps(ready, tmp_path):
    words = ("--refit", "--folds", "2", "--set", "min_duration=3", "--set", "far=(3,5)")
    code, out, _ = ready(*words, budget="3 per 100 steps")
    assert code == 0
    policy = axonad.load(tmp_path / "new").alarm_setup_.policy
    assert (policy.min_duration, policy.far) == (3, (3.0, 5.0))
    assert "min_duration 3" in out


def test_calibration_data_with_faults_is_called_so(ready, run, tmp_path):
    X = waves(600, seed=1)
    X[300:305, 1] += 50
    pl.DataFrame(X, schema=NAMES).write_csv(tmp_path / "n1.csv")
    code, _, err = ready("--seconds-per-step", "0.1")
    assert code == 0
    assert "the calibration data itself contains 1 event far above the rest; the largest at" in err


@pytest.mark.parametrize(
    ("budget", "words", "message"),
    [
        ("0 per hour", (), "the alarm budget must be above 0, got '0 per hour'"),
        ("often", (), 'the alarm budget must be written like "1 per hour", "2 per day" or'),
        ("1 per hour", ("--set", "start=3"), "start is chosen by the budget; leave out --set"),
        ("1 per hour", ("--set", "merge=3"), "AlarmPolicy has no parameter 'merge'"),
        ("1 per hour", ("--hysteresis", "1"), "hysteresis must be below 1, got 1.0"),
        ("1 per hour", ("--seconds-per-step", "-1"), "seconds_per_step must be above 0"),
    ],
)
def test_mistakes_get_one_sentence_and_write_nothing(ready, tmp_path, budget, words, message):
    assert_one_red_line(ready(*words, budget=budget), message)
    assert not (tmp_path / "new").exists()


def test_no_times_short_data_and_existing_models(run, ready, tmp_path):
    frame(400).write_csv(tmp_path / "train.csv")
    frame(300, seed=1).write_csv(tmp_path / "n.csv")
    assert run("fit", "train.csv", "-o", "plain", "--detector", "PCA", "-s", "window=20")[0] == 0
    words = ("recalibrate", "plain", "n.csv", "-o", "new", "--budget")
    assert_one_red_line(
        run(*words, "1 per hour"), "a budget per hour needs the time between two steps"
    )
    frame(10).write_csv(tmp_path / "n.csv")
    assert_one_red_line(
        run(*words, "1 per 100 steps"), "cannot be used for calibration: window must be at most"
    )
    assert_one_red_line(ready(out="m"), "is an input of this command; choose another name")
    assert ready()[0] == 0
    assert_one_red_line(ready(), "already exists; choose another name or pass --force")


def test_a_budget_in_fit_and_events_whatever_the_alignment(run, tmp_path):
    frame(600, time=True).write_csv(tmp_path / "train.csv")
    words = ("--detector", "PCA", "-s", "window=20", "--budget")
    code, out, _ = run("fit", "train.csv", "-o", "m", *words, "400 per hour")
    assert code == 0
    assert "(budget of 400 per hour)" in out
    assert "h of normal data" in out
    assert axonad.load(tmp_path / "m").alarm_setup_.version == 1
    drive(tmp_path / "d.csv")
    tables, events = [], []
    for words in ((), ("--align", "center"), ("--align", "center", "--chunk", "70")):
        options = ("--events", "e.csv", "--force", *words)
        assert run("score", "m", "d.csv", "-o", "s.csv", *options)[0] == 0
        tables.append(pl.read_csv(tmp_path / "s.csv")["score"].to_numpy())
        events.append(pl.read_csv(tmp_path / "e.csv").drop("score"))
    assert len(events[0].filter(pl.col("class") == "anomaly")) > 0
    assert events[0].equals(events[1])
    assert events[0].equals(events[2])
    np.testing.assert_allclose(tables[1][10:-9], tables[0][19:])
    np.testing.assert_allclose(tables[2], tables[1])


def test_a_budget_in_fit_without_times(run, tmp_path):
    frame(400).write_csv(tmp_path / "train.csv")
    words = ("fit", "train.csv", "-o", "m", *RIDGE, "--budget", "1 per hour")
    assert_one_red_line(run(*words), "give the seconds per step (seconds_per_step, or --seconds")
    assert not (tmp_path / "m").exists()
    code, out, _ = run(*words, "--seconds-per-step", "0.1")
    assert code == 0
    assert "cannot promise fewer than" in out


def test_bad_data_rules_of_a_budget_in_fit_see_values_before_they_are_filled(run, tmp_path):
    X = waves(400)
    X[50:90, 0] = np.nan
    pl.DataFrame(X, schema=NAMES).fill_nan(None).write_csv(tmp_path / "train.csv")
    words = ("--budget", "3 per 100 steps", "--fill", "hold", "--max-hold", "60")
    assert run("fit", "train.csv", "-o", "m", *RIDGE, *words)[0] == 0
    assert axonad.load(tmp_path / "m").alarm_setup_.rules.missing.tolist() == [40, 0, 0]
