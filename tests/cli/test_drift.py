"""Drift on the command line: sentences, event files and lines of a stream."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest


def write(path, rows, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    speed = rng.normal(size=rows)
    torque = 2 * speed + rng.normal(size=rows)
    torque[600:] += shift
    pl.DataFrame({"speed": speed, "torque": torque}).write_csv(path)


@pytest.fixture
def model(run, tmp_path):
    write(tmp_path / "a.csv", 1_000, 1)
    write(tmp_path / "b.csv", 2_000, 2)
    write(tmp_path / "new.csv", 1_600, 3, shift=6.0)
    assert run("fit", "a.csv", "--out", "m", "--detector", "CrossChannelRidge")[0] == 0
    code, out, _ = run(
        "recalibrate", "m", "b.csv", "--budget", "20 per 10000 steps", "--out", "new"
    )
    assert code == 0
    assert "drift: the level of 2 of 2 channels is judged, in blocks of " in out
    assert "at most 1 of 100 normal streams is ever said to drift" in out


@pytest.mark.usefixtures("model")
def test_score_and_stream_say_the_same(run, tmp_path):
    said, storms = [], []
    for extra in ([], ["--chunk", "500"]):
        code, out, _ = run(
            "score", "new", "new.csv", "--out", "s.csv", "--events", "e.csv", "--force", *extra
        )
        assert code == 0
        lines = [line for line in out.splitlines() if line.startswith("drift:")]
        said += [line for line in lines if "shifted" in line]
        storms += [line for line in lines if "alarms far beyond the budget" in line]
        events = pl.read_csv(tmp_path / "e.csv")
        assert events.filter(pl.col("class") == "drift").height == 1
        assert events.filter((pl.col("class") == "anomaly") & pl.col("drift")).height > 0
    assert len(said) == 2
    assert said[0] == said[1]
    assert len(storms) == 2
    assert storms[0] == storms[1]
    assert said[0].startswith("drift: since step ")
    assert "of 2 channels shifted: torque higher by " in said[0]
    assert said[0].endswith("scores are not trustworthy: recalibrate or retrain")
    lines = (tmp_path / "new.csv").read_text(encoding="utf-8")
    code, out, _ = run("stream", "new", "--events", "e.jsonl", stdin=lines)
    assert code == 0
    news = [e for line in out.splitlines() for e in json.loads(line).get("events", [])]
    (verdict,) = [e for e in news if e["class"] == "drift"]
    assert verdict["what"] == "fired"
    assert verdict["text"].startswith(said[0].split(" (")[0])
    logged = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert [e["start"] for e in logged if e["class"] == "drift"] == [verdict["start"]]
    (gathers,) = [e for e in logged if e["class"] == "anomaly" and e["reason"]]
    assert gathers["drift"]
    texts = [e["text"] for e in news if e["class"] == "anomaly" and "text" in e]
    assert texts[0].split(" the data")[1].startswith(" no longer looks like training (alarms far ")
