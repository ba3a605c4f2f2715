"""``axonad stream --state``: saved while the stream runs, and resumed with the same scores."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys

import polars as pl

from axonad.stream import TOLERANCE
from tests.cli.small_runs import NAMES, assert_one_red_line, frame
from tests.conftest import waves
from tests.fuzz.forging import seal_state

SAVED = "s.json"


def faulty_lines():
    """Return 90 rows with two faults: the first event has ended at row 50, the second not."""
    data = waves(90, seed=1)
    data[20:23, 1] += 50
    data[56:59, 2] += 50
    return pl.DataFrame(data, schema=NAMES).write_csv().splitlines()


def answers_of(out):
    return [json.loads(line) for line in out.splitlines()]


def assert_same(found, expected):
    """Compare answers or events: numbers within the tolerance, all else exactly."""
    for one, other in zip(found, expected, strict=True):
        assert list(one) == list(other)
        for key, value in other.items():
            if isinstance(value, float):
                assert abs(one[key] - value) <= TOLERANCE * max(1, abs(value)), (one, other)
            else:
                assert one[key] == value, (one, other)


def test_a_killed_stream_resumes_with_the_same_scores(run, model, tmp_path):
    lines = faulty_lines()
    whole = answers_of(run("stream", model, "--events", "whole.jsonl", stdin="\n".join(lines))[1])
    words = ["stream", str(model), "--state", SAVED, "--save-every", "7", "--events", "e.jsonl"]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "axonad", *words], cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        process.stdin.write("\n".join(lines[:62]) + "\n")
        process.stdin.flush()
        first = [json.loads(process.stdout.readline()) for _ in range(61 - 15)]
        process.kill()
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGKILL
    saved = json.loads((tmp_path / SAVED).read_text())["counts"][0]
    assert 56 <= saved <= 61
    text = "\n".join([lines[0], *lines[1 + saved :]])
    code, out, err = run(*words, stdin=text)
    assert code == 0
    assert err.splitlines()[0] == f"resuming after row {saved}"
    assert_same(first + answers_of(out)[61 - saved :], whole)
    assert_same(answers_of(out), whole[saved - 15 :])
    logged, expected = (
        answers_of((tmp_path / name).read_text()) for name in ("e.jsonl", "whole.jsonl")
    )
    assert len(expected) == 2
    assert_same(logged, expected)


def test_stream_state_continues(run, model):
    lines = faulty_lines()
    whole = answers_of(run("stream", model, stdin="\n".join(lines))[1])
    first = run("stream", model, "--state", SAVED, stdin="\n".join(lines[:31]))[1]
    second = run("stream", model, "--state", SAVED, stdin="\n".join([lines[0], *lines[31:]]))[1]
    assert_same(answers_of(first) + answers_of(second), whole)


def test_an_open_event_is_kept_in_the_state(run, model, tmp_path):
    lines = faulty_lines()
    words = ["stream", model, "--state", SAVED, "--events", "e.csv"]
    err = run(*words, stdin="\n".join(lines[:61]))[2]
    assert ", 1 event, 1 still open" in err
    assert len((tmp_path / "e.csv").read_text().splitlines()) == 2
    err = run(*words, stdin="\n".join([lines[0], *lines[61:]]))[2]
    assert err.endswith(", 1 event\n")
    table = pl.read_csv(tmp_path / "e.csv")
    assert table.height == 2
    assert table["start"][1] == 56
    (tmp_path / SAVED).unlink()
    assert_one_red_line(run(*words, stdin=""), "e.csv already exists")
    run("stream", model, "--state", SAVED, stdin=lines[0])
    document = json.loads((tmp_path / SAVED).read_text())
    document["counts"] = {"event": {"start": 5}}
    (tmp_path / SAVED).write_bytes(seal_state(document))
    code, _, err = run(*words, stdin="")
    assert code == 2
    assert "error: s.json: the state is damaged" in err


def test_a_terminated_stream_saves_its_state(run, model, tmp_path, monkeypatch):
    class Stopped(io.StringIO):
        def readline(self, *size):
            line = super().readline(*size)
            if not line:
                signal.raise_signal(signal.SIGTERM)
            return line

    monkeypatch.setattr(sys, "stdin", Stopped(frame(20, seed=1).write_csv()))
    before = signal.getsignal(signal.SIGTERM)
    code, out, _ = run("stream", model, "--state", SAVED)
    assert code == 143
    assert answers_of(out)[-1]["step"] == 19
    assert json.loads((tmp_path / SAVED).read_text())["counts"][0] == 20
    assert signal.getsignal(signal.SIGTERM) is before


def test_states_are_saved_every_so_many_rows_or_seconds(run, model, monkeypatch):
    from axonad.cli import stream as command

    saved = []
    state = command.Session.state

    def record(session):
        saved.append(session.rows)
        return state(session)

    monkeypatch.setattr(command.Session, "state", record)
    text = frame(20, seed=1).write_csv()
    run("stream", model, "--state", SAVED, "--save-every", "8", stdin=text)
    assert saved == [8, 16, 20]
    saved.clear()
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(command, "monotonic", lambda: float(next(clock)))
    run("stream", model, "--state", "t.json", stdin=text)
    assert saved == [4, 8, 12, 16, 20, 20]


def test_a_stream_goes_on_while_its_state_cannot_be_saved(run, model, monkeypatch):
    from axonad.cli import stream as command
    from axonad.errors import FileError

    def fail(*_, **__):
        raise FileError("cannot write s.json: No space left on device")

    monkeypatch.setattr(command.atomic, "write_bytes", fail)
    text = frame(20, seed=1).write_csv()
    code, out, err = run("stream", model, "--state", SAVED, "--save-every", "8", stdin=text)
    assert answers_of(out)[-1]["step"] == 19
    assert err.count("note: the state was not saved: cannot write s.json") == 2
    assert (code, err.splitlines()[-1][:6]) == (2, "error:")


def test_max_hold_given_beats_the_saved_one(run, model, tmp_path):
    text = frame(20, seed=1).write_csv()
    for words, expected in (
        (["--max-hold", "3"], 3), ([], 3), (["--hold-limit", "5"], 5), (["--max-hold", "0"], 0),
    ):  # fmt: skip
        run("stream", model, "--state", SAVED, *words, stdin=text)
        assert json.loads((tmp_path / SAVED).read_text())["hold_limit"] == expected
    assert "--hold-limit" not in run("stream", "--help")[1]
