"""``axonad evaluate``: what it prints, writes and refuses."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.metrics import evaluate_alarms
from tests.cli.small_runs import assert_refused


def test_evaluate_prints_and_writes(run, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.zeros(500, dtype=int)
    labels[200:230] = 1
    scores = rng.normal(size=500) + 3 * labels
    pl.DataFrame({"score": scores}).write_csv(tmp_path / "s.csv")
    pl.DataFrame({"a": rng.normal(size=500), "Label": labels}).write_csv(tmp_path / "l.csv")
    code, out, _ = run("evaluate", "s.csv", "--labels", "l.csv", "--window", "20", "-o", "m.json")
    assert code == 0
    assert "VUS-PR" in out
    assert "chance" in out
    assert "1 events found, 0 missed" in out
    assert "per hour" not in out
    assert "median delay" in out
    written = json.loads((tmp_path / "m.json").read_text())
    assert written["metrics"]["VUS-PR"] == pytest.approx(
        axonad.evaluate(scores, labels, window=20)["VUS-PR"]
    )
    assert run("evaluate", "s.csv", "--labels", "l.csv", "-o", "m.csv")[0] == 0
    assert "VUS-PR" in (tmp_path / "m.csv").read_text()
    timed = {"t_s": np.arange(500) / 10, "score": scores, "Label": labels}
    pl.DataFrame(timed).write_csv(tmp_path / "timed.csv")
    assert "per hour)" in run("evaluate", "timed.csv")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["t.csv", "-o", "t.csv", "--force"], "t.csv is an input of this command"),
        (["t.csv", "-o", "m.txt"], "its ending must be one of .json, .csv"),
        (["t.csv"], "t.csv has no column Label; pass --labels FILE"),
        (["labelled.csv", "--column", "scor"], "labelled.csv has no column 'scor'; columns: score"),
        (["labelled.csv", "--window", "²"], "rule"),
        (["labelled.csv", "--window", "999999"], "window"),
    ],
)  # fmt: skip
def test_mistakes_get_one_red_line(run, tmp_path, words, message):
    assert_refused(run, tmp_path, ["evaluate", *words], message)


def test_the_models_own_alarms_are_judged_beside_the_best_threshold(run, tmp_path):
    labels = np.zeros(500, dtype=int)
    labels[200:230] = 1
    scores = np.random.default_rng(0).normal(size=500) + 3 * labels
    alarms = np.zeros(500, dtype=int)
    alarms[[210, 400]] = 1
    gappy = [None, None, *scores[2:]]
    table = {"score": gappy, "alarm": alarms, "Label": labels}
    pl.DataFrame(table).write_csv(tmp_path / "s.csv")
    code, out, err = run("evaluate", "s.csv", "-o", "m.json")
    assert code == 0
    assert "note: s.csv: 2 of 500 steps have no score; they count as the lowest" in err
    assert "model's alarms" in out.splitlines()[0]
    assert "in hindsight, with the best threshold for these labels (Standard-F1" in out
    own = next(line for line in out.splitlines() if line.startswith("the model's own alarms"))
    assert "precision 0.500, recall 0.033, 1 events found, 0 missed, 2.00 false alarms" in own
    assert "median delay 10 steps" in own
    written = json.loads((tmp_path / "m.json").read_text())
    expected = evaluate_alarms(alarms, labels)
    assert written["own_alarms"]["metrics"]["Standard-F1"] == pytest.approx(expected["Standard-F1"])
