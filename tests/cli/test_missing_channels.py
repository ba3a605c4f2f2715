"""``--allow-missing``: data that lacks channels of the model, in files and streams."""

from __future__ import annotations

import json

import polars as pl
import pytest

import axonad
from tests.cli.small_runs import NAMES, assert_one_red_line, frame
from tests.data.readers import recordings


@pytest.fixture
def ridge(tmp_path):
    """A model that can score without a channel, a whole file, and two that lack one."""
    axonad.make_detector("CrossChannelRidge").fit(frame(600)).save(tmp_path / "m")
    whole = frame(200, seed=2, time=True)
    whole.write_csv(tmp_path / "whole.csv")
    whole.drop("torque").write_csv(tmp_path / "lacks.csv")
    whole.with_columns(torque=pl.lit(None)).write_csv(tmp_path / "empty.csv")
    return "m"


def test_files_that_lack_a_channel(run, ridge, tmp_path):
    lacks = run("score", ridge, "lacks.csv", "--out", "a.csv")
    assert_one_red_line(lacks, "X lacks channel 'torque' the model was fitted on; --allow-missing")
    words = ("score", ridge, "lacks.csv", "--allow-missing", "--out")
    code, _, err = run(*words, "a.csv")
    assert (code, err) == (0, "note: lacks.csv is scored without 'torque', which it lacks\n")
    code, _, _ = run(*words, "b.csv", "--chunk", "50")
    a, b = (pl.read_csv(tmp_path / name) for name in ("a.csv", "b.csv"))
    assert a.equals(b)
    assert a["alarm"].mean() < 0.02
    files = ("whole.csv", "lacks.csv", "empty.csv")
    code, _, err = run("score", ridge, *files, "--allow-missing", "--out", "s")
    assert code == 0
    assert err.count("scored without 'torque'") == 2, "a column without values counts as missing"
    code, _, _ = run("report", ridge, *files, "--allow-missing", "--out", "r.html")
    assert code == 0
    assert (tmp_path / "r.html").read_text().count("scored without") == 2
    code, _, _ = run("score", ridge, "whole.csv", "--out", "c.csv")
    assert pl.read_csv(tmp_path / "c.csv").equals(pl.read_csv(tmp_path / "s" / "whole.csv"))


def test_detectors_that_cannot_and_files_with_nothing(run, ridge, model, tmp_path):
    words = ("--allow-missing", "--out", "a.csv")
    answer = run("score", model, "lacks.csv", *words)
    assert_one_red_line(answer, "AxonAD cannot score without 'torque', which it was fitted on; the")
    pl.DataFrame({"x": range(50)}).write_csv(tmp_path / "other.csv")
    assert_one_red_line(run("score", ridge, "other.csv", *words), "channel 'x' not in model")


def test_a_recording_that_lacks_a_channel(run, tmp_path):
    (tmp_path / "bus.dbc").write_text(recordings.DBC)
    messages = recordings.make_messages(20.0)
    recordings.write_log(tmp_path / "a.log", messages)
    recordings.write_log(tmp_path / "b.log", [m for m in messages if not m.is_extended_id])
    words = ("--dbc", "bus.dbc")
    code, _, _ = run("fit", "a.log", "--out", "m", "--detector", "Relation", *words)
    assert code == 0
    answer = run("score", "m", "b.log", "--out", "s.mf4", *words)
    assert_one_red_line(answer, "b.log has no channel 'wheel_speed'")
    code, _, err = run("score", "m", "b.log", "--out", "s.mf4", *words, "--allow-missing")
    assert code == 0
    assert "note: b.log is scored without 'wheel_speed', which it lacks" in err


def test_streams_that_lack_a_channel(run, ridge):
    rows = frame(60, seed=2)
    text = rows.drop("torque").write_csv()
    assert_one_red_line(run("stream", ridge, stdin=text), "the header lacks 'torque'")
    code, out, err = run("stream", ridge, "--allow-missing", stdin=text)
    assert code == 0
    assert err.startswith(
        "note: the stream is scored without 'torque', which it lacks\n60 rows, 60"
    )
    objects = [dict(zip(NAMES, row, strict=True)) for row in rows.rows()]
    first = {name: objects[0][name] for name in NAMES[:2]}
    again = "\n".join(json.dumps(one) for one in [first, *objects[1:]])
    code, same, err = run("stream", ridge, "--allow-missing", stdin=again)
    assert same == out, "what comes later is not used"
    code, _, err = run("stream", ridge, "--allow-missing", stdin=rows.write_csv())
    assert "without" not in err
