"""``axonad stream``: rows in, JSON lines out, whatever the rows are like."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import axonad
from tests.cli.small_runs import NAMES, assert_refused, frame
from tests.conftest import waves


def stream_lines(out):
    return [json.loads(line) for line in out.splitlines()]


def test_stream_scores_rows_from_stdin(run, model):
    X = waves(40, seed=1)
    text = frame(40, seed=1, label=True, time=True).write_csv()
    code, out, err = run("stream", model, stdin=text)
    assert (code, err) == (0, "")
    lines = stream_lines(out)
    detector = axonad.load(model)
    detector.set_params(align="end")
    np.testing.assert_allclose(
        [line["score"] for line in lines], detector.decision_function(X)[15:], rtol=1e-5, atol=1e-5
    )
    assert set(lines[0]) == {"step", "score", "alarm", "d_rec", "d_q"}


def test_stream_takes_json_and_plain_numbers_too(run, model):
    rows = waves(20, seed=1)
    as_csv = frame(20, seed=1).write_csv()
    plain = "\n".join(",".join(map(str, row)) for row in rows)
    objects = "\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows.tolist())
    answers = [
        stream_lines(run("stream", model, stdin=text)[1]) for text in (as_csv, plain, objects)
    ]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 5


def test_stream_survives_bad_lines(run, model):
    lines = frame(60, seed=1).write_csv().splitlines()
    lines[20] = "garbage"
    lines[25] = "1,2"
    lines[30] = ",0.1,0.2"
    lines[32] = '{"speed": 1'
    code, out, err = run("stream", model, "--hold-limit", "5", stdin="\n".join(lines))
    assert code == 0
    answers = stream_lines(out)
    errors = [a["error"] for a in answers if "error" in a]
    assert len(errors) == 3
    assert "expected 3 values as in the header, got 1" in errors[0]
    assert [a["step"] for a in answers] == list(range(15, 60)), "a lost row is a row"
    assert [a["step"] for a in answers if a.get("held") == ["speed"]] == [29]
    assert "10 values held, 0 rows refused" in err


def test_stream_refuses_when_too_many_lines_are_lost(run, model):
    lines = frame(60, seed=1).write_csv().splitlines()
    lines[21:25] = ["garbage"] * 4
    _, out, err = run("stream", model, "--hold-limit", "2", stdin="\n".join(lines))
    answers = stream_lines(out)
    steps = [a["step"] for a in answers if "score" in a]
    assert steps == [*range(15, 22), *range(39, 60)], "the window fills anew behind the gap"
    assert "6 values held, 2 rows refused" in err


@pytest.mark.parametrize(
    "line",
    ['{"speed": 1' + "0" * 400 + ', "yaw_rate": 0, "torque": 0}', "9" * 200_000 + "x,1,2",
     "NA,NA,NA", "\ufffd\ufffd", '{"speed": "fast"}', "[1,2,3]"],
)  # fmt: skip
def test_no_line_ends_the_stream(run, model, line):
    lines = frame(30, seed=1).write_csv().splitlines()
    lines[25] = line
    code, out, _ = run("stream", model, stdin="\n".join(lines))
    assert code == 0
    assert [a["step"] for a in stream_lines(out)] == list(range(15, 30))


def test_stream_takes_json_with_time_and_label(run, model):
    rows = waves(20, seed=1).tolist()
    extra = {"time": 1.0, "Label": 0}
    text = "\n".join(json.dumps({**extra, **dict(zip(NAMES, r, strict=True))}) for r in rows)
    assert "error" not in run("stream", model, stdin=text)[1]


def test_hold_limit_given_beats_the_saved_one(run, model, tmp_path):
    text = frame(20, seed=1).write_csv()
    run("stream", model, "--state", "s.json", "--hold-limit", "3", stdin=text)
    run("stream", model, "--state", "s.json", stdin="")
    assert json.loads((tmp_path / "s.json").read_text())["hold_limit"] == 3
    run("stream", model, "--state", "s.json", "--hold-limit", "0", stdin="")
    assert json.loads((tmp_path / "s.json").read_text())["hold_limit"] == 0


def test_a_terminated_stream_saves_its_state(model, tmp_path):
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "axonad", "stream", str(model), "--state", "s.json"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        process.stdin.write(frame(20, seed=1).write_csv())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(5)]
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    assert answers[-1]["step"] == 19
    assert json.loads((tmp_path / "s.json").read_text())["counts"][0] == 20


def test_stream_state_continues(run, model, tmp_path):
    lines = frame(60, seed=1).write_csv().splitlines()
    whole = stream_lines(run("stream", model, stdin="\n".join(lines))[1])
    first = run("stream", model, "--state", "s.json", stdin="\n".join(lines[:31]))[1]
    second = run("stream", model, "--state", "s.json", stdin="\n".join([lines[0], *lines[31:]]))[1]
    continued = stream_lines(first) + stream_lines(second)
    assert continued == [pytest.approx(answer, rel=1e-5, abs=1e-5) for answer in whole]


def test_stream_alarms_only(run, model):
    data = waves(60, seed=1)
    data[40:45] += 50
    text = pl.DataFrame(data, schema=NAMES).write_csv()
    answers = stream_lines(run("stream", model, "--alarms-only", stdin=text)[1])
    assert answers
    assert all(answer["alarm"] for answer in answers)


def test_stream_too_short_says_so(run, model):
    code, out, err = run("stream", model, stdin=frame(5).write_csv())
    assert (code, out) == (0, "")
    assert "note: got only 5 rows; the first score needs 16" in err


def test_a_model_that_does_not_exist(run, tmp_path):
    assert_refused(run, tmp_path, ["stream", "nomodel"], "nomodel does not exist")
