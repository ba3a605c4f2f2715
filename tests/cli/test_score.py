"""``axonad score``: what it writes, prints, plots and refuses."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import axonad
from tests.cli.small_runs import NAMES, QUICK, assert_one_red_line, assert_refused, frame
from tests.conftest import SMALL, waves


def test_fit_then_score_csv_and_parquet(run, tmp_path):
    frame(400).write_parquet(tmp_path / "train.parquet")
    code, out, err = run("fit", "train.parquet", "--out", "m", *QUICK)
    assert (code, err) == (0, "")
    assert "400 rows, 3 channels" in out
    assert "saved to m" in out
    frame(100, seed=1, label=True, time=True).write_csv(tmp_path / "drive.csv")
    for target in ("scores.csv", "scores.parquet"):
        code, out, err = run("score", "m", "drive.csv", "--out", target)
        assert (code, err) == (0, "")
        assert f"wrote {target}" in out
    scores = pl.read_csv(tmp_path / "scores.csv")
    assert scores.columns == ["step", "time", "score", "d_rec", "d_q", "alarm", "label"]
    expected = axonad.load(tmp_path / "m").decision_function(waves(100, seed=1))
    np.testing.assert_allclose(scores["score"], expected, rtol=1e-9)
    assert scores["time"][99] == pytest.approx(9.9)
    np.testing.assert_allclose(pl.read_parquet(tmp_path / "scores.parquet")["score"], expected)


def test_score_draws_and_lists_events(run, model, tmp_path, saved_figures):
    X = waves(200, seed=1)
    X[100:110, 1] += 9
    pl.DataFrame(X, schema=NAMES).write_csv(tmp_path / "x.csv")
    code, out, _ = run("score", model, "x.csv", "-o", "s.csv", "--figure", "s.png")
    assert code == 0
    assert "yaw_rate" in out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    axes = saved_figures["s.png"].axes
    assert [axis.get_ylabel().split()[0] for axis in axes[-3:]] == ["score", "d_rec", "d_q"]
    assert axes[0].get_ylabel() == "yaw_rate", "the channel blamed first is on top"
    np.testing.assert_array_equal(axes[0].lines[0].get_ydata(), X[:, 1])


def test_events_are_explained(run, tmp_path):
    frame(600).write_csv(tmp_path / "train.csv")
    run("fit", "train.csv", "--out", "m", "--detector", "Relation", "--set", "smooth=5")
    X = waves(300, seed=1)
    X[150:190, 1] = X[150, 1]
    pl.DataFrame(X, schema=NAMES).write_csv(tmp_path / "x.csv")
    for ending in ("json", "csv"):
        code, out, err = run(
            "score", "m", "x.csv", "-o", "s.csv", "--explain", "--events", f"e.{ending}", "--force"
        )
        assert (code, err) == (0, "")
        assert "yaw_rate is frozen and no longer follows" in out
    (found,) = json.loads((tmp_path / "e.json").read_text())
    assert found["why"]["channels"] == ["yaw_rate"]
    row = pl.read_csv(tmp_path / "e.csv").row(0, named=True)
    assert (row["kind"], row["blamed"], row["vanishes"]) == ("frozen", "yaw_rate", "yes")
    assert row["sentence"] == found["why"]["sentence"]
    words = ("score", "m", "x.csv", "-o", "t.csv", "--explain", "--chunk", "50")
    assert_one_red_line(run(*words), "--explain needs the whole series")


def test_a_model_without_names_scores_and_draws(run, tmp_path, saved_figures):
    params = SMALL | {"epochs": 1, "contamination": 0.1, "threshold": "quantile"}
    axonad.AxonAD(**params).fit(waves(200)).save("m")
    frame(100, seed=1).write_csv(tmp_path / "x.csv")
    assert run("score", "m", "x.csv", "-o", "s.csv", "--figure", "s.png")[0] == 0
    assert pl.read_csv(tmp_path / "s.csv")["alarm"].sum() > 0
    assert len(saved_figures["s.png"].axes[0].lines[0].get_ydata()) == 100


def test_nothing_is_overwritten(run, model, tmp_path):
    frame(50).write_csv(tmp_path / "x.csv")
    (tmp_path / "s.csv").write_text("mine")
    assert_one_red_line(
        run("score", model, "x.csv", "-o", "s.csv"),
        "s.csv already exists; choose another name or pass --force",
    )
    assert (tmp_path / "s.csv").read_text() == "mine"
    assert run("score", model, "x.csv", "-o", "s.csv", "--force")[0] == 0
    assert_one_red_line(run("fit", "x.csv", "-o", model, *QUICK), "already exists")


def test_device_can_be_chosen_when_scoring(run, model, tmp_path):
    frame(50).write_csv(tmp_path / "x.csv")
    assert_one_red_line(
        run("score", model, "x.csv", "-o", "s.csv", "--device", "cuda:77"), "device 'cuda:77'"
    )
    assert run("score", model, "x.csv", "-o", "s.csv", "--device", "cpu")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["t.csv", "-o", "s.txt"], "its ending must be one of .csv, .parquet"),
        (["t.csv", "-o", "s.csv", "--figure", "s.bmp"], "cannot draw 's.bmp'"),
        (["t.csv", "-o", "t.csv", "--force"], "t.csv is an input of this command"),
        (["t.csv", "-o", "t.csv"], "choose another name to write to"),
        (["other.csv", "-o", "s.csv"], "channel 'x' not in model"),
        (["t.csv", "-o", "s.csv", "--align", "mid"], "align must be one of"),
    ],
)  # fmt: skip
def test_mistakes_get_one_red_line(run, model, tmp_path, words, message):
    assert_refused(run, tmp_path, ["score", model, *words], message)


def test_a_model_that_does_not_exist(run, tmp_path):
    words = ["score", "nomodel", "t.csv", "-o", "s.csv"]
    assert_refused(run, tmp_path, words, "nomodel does not exist")


def gappy(rows=200):
    """A drive with an hour's gap, a value missing once and for long, and a column too many."""
    data = frame(rows, seed=1, time=True).with_columns(extra=pl.lit(1.0))
    times = data["t_s"].to_numpy().copy()
    times[100:] += 3600
    speed = data["speed"].to_list()
    speed[50] = None
    speed[150:170] = [None] * 20
    return data.with_columns(t_s=pl.Series(times), speed=pl.Series(speed))


@pytest.mark.parametrize("chunk", [(), ("--chunk", "30")])
def test_gaps_missing_values_and_extra_columns(run, model, tmp_path, chunk):
    gappy().write_csv(tmp_path / "x.csv")
    words = ["score", model, "x.csv", "-o", "s.csv", *chunk]
    assert_one_red_line(run(*words), "channel 'extra' not in model; drop it (--ignore-extra)")
    assert_one_red_line(run(*words, "--ignore-extra"), "NaN or infinite")
    assert_one_red_line(run(*words, "--max-hold", "3"), "--max-hold needs --fill hold")
    code, _, err = run(*words, "--ignore-extra", "--fill", "hold", "--max-hold", "3")
    assert code == 0
    assert err.splitlines() == [
        "note: x.csv: 4 missing values held, 17 rows without usable values",
        "note: x.csv: 1 gap in time, first before row 100, the longest 3600.1 s; no window reaches "
        "across it",
        "note: x.csv: 17 of 200 rows get no score: values are missing there, or fewer than 16 rows "
        "follow one another without a gap",
    ]
    scores = pl.read_csv(tmp_path / "s.csv")
    assert scores["score"].is_null().arg_true().to_list() == list(range(153, 170))
    assert scores["alarm"].null_count() == 0


@pytest.mark.parametrize("chunk", [(), ("--chunk", "30")])
def test_thresholds_and_event_files(run, model, tmp_path, chunk):
    data = frame(200, seed=1, time=True)
    loud = data["torque"].to_numpy().copy()
    loud[100:105] += 30
    data.with_columns(torque=pl.Series(loud)).write_csv(tmp_path / "x.csv")
    words = ["score", model, "x.csv", "-o", "s.csv", "--force", *chunk]
    code, out, _ = run(*words, "--threshold", "1e9", "--events", "e.json")
    assert (code, json.loads((tmp_path / "e.json").read_text())) == (0, [])
    assert "0 events in 200 steps" in out
    assert run(*words, "--alarm-rate", "0.01", "--events", "e.csv")[0] == 0
    assert run(*words, "--alarm-rate", "0.01", "--events", "f.json")[0] == 0
    events = pl.read_csv(tmp_path / "e.csv")
    listed = json.loads((tmp_path / "f.json").read_text())
    assert events.height == len(listed) > 0
    strongest = max(listed, key=lambda event: event["score"])
    assert strongest["channels"][0] == "torque"
    assert strongest["start"] <= 105
    assert strongest["end"] >= 100
    assert strongest["from"] == pytest.approx(strongest["start"] / 10)
    steps = [step for e in listed for step in range(e["start"], e["end"] + 1)]
    alarms = pl.read_csv(tmp_path / "s.csv")["alarm"].cast(bool).arg_true()
    assert set(alarms.to_list()) <= set(steps)
    assert_one_red_line(run(*words, "--events", "e.txt"), "its ending must be one of .csv, .json")
