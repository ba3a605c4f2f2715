"""The command line in process: what it prints, writes, refuses."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.cli import main
from tests.conftest import waves

NAMES = ["speed", "yaw_rate", "torque"]
QUICK = ["-s", "window=16", "-s", "d_model=16", "-s", "heads=2", "-s", "tail=4", "-s", "epochs=2",
         "-s", "device=cpu"]  # fmt: skip


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Run a command in an empty folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in words])
        out, err = capfd.readouterr()
        return caught.value.code, out, err

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A fitted model on disk."""
    folder = tmp_path_factory.mktemp("model")
    frame(400).write_csv(folder / "train.csv")
    with pytest.raises(SystemExit) as caught:
        main(["fit", str(folder / "train.csv"), "--out", str(folder / "model"), *QUICK])
    assert caught.value.code == 0
    return folder / "model"


def frame(rows, seed=0, label=False, time=False):
    data = pl.DataFrame(waves(rows, seed=seed), schema=NAMES)
    if label:
        data = data.with_columns(Label=pl.lit(0).cast(pl.Int64))
    if time:
        data = data.with_columns(t_s=pl.Series(np.arange(rows) / 10))
    return data


def assert_one_red_line(code, err, message):
    assert code == 2
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


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


def test_score_draws_and_lists_events(run, model, tmp_path):
    X = waves(200, seed=1)
    X[100:110, 1] += 9
    pl.DataFrame(X, schema=NAMES).write_csv(tmp_path / "x.csv")
    code, out, _ = run("score", model, "x.csv", "-o", "s.csv", "--figure", "s.png")
    assert code == 0
    assert "yaw_rate" in out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_a_model_without_names_scores_and_draws(run, tmp_path):
    small = {"window": 16, "d_model": 16, "heads": 2, "tail": 4, "epochs": 1, "device": "cpu"}
    axonad.AxonAD(**small, contamination=0.1, threshold="quantile").fit(waves(200)).save("m")
    frame(100, seed=1).write_csv(tmp_path / "x.csv")
    assert run("score", "m", "x.csv", "-o", "s.csv", "--figure", "s.png")[0] == 0


def test_config_file_and_words_agree(run, tmp_path):
    frame(100).write_csv(tmp_path / "t.csv")
    (tmp_path / "c.toml").write_text("window = 8\ntail = 2\nd_model = 8\nheads = 1\nepochs = 9\n")
    code, *_ = run("fit", "t.csv", "-o", "m", "--config", "c.toml", "--set", "epochs=1", "-s",
                   "dilations=1,2")  # fmt: skip
    assert code == 0
    detector = axonad.load(tmp_path / "m")
    assert (detector.window, detector.epochs, detector.dilations) == (8, 1, (1, 2))


def test_nothing_is_overwritten(run, model, tmp_path):
    frame(50).write_csv(tmp_path / "x.csv")
    (tmp_path / "s.csv").write_text("mine")
    code, _, err = run("score", model, "x.csv", "-o", "s.csv")
    assert_one_red_line(code, err, "s.csv already exists; choose another name or pass --force")
    assert (tmp_path / "s.csv").read_text() == "mine"
    assert run("score", model, "x.csv", "-o", "s.csv", "--force")[0] == 0
    code, _, err = run("fit", "x.csv", "-o", model, *QUICK)
    assert_one_red_line(code, err, "already exists")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "none.csv", "-o", "m"], "none.csv does not exist"),
        (["fit", "t.csv"], "Missing option '--out'"),
        (["fit", "t.csv", "-o", "m", "-s", "windwo=3"], "no parameter 'windwo'; did you mean 'win"),
        (["fit", "t.csv", "-o", "m", "-s", "window"], "expected NAME=VALUE, got 'window'"),
        (["fit", "t.csv", "-o", "m", "-s", "window=x"], "window must be an integer, got 'x'"),
        (["fit", "t.csv", "-o", "m", "--detector", "Axon"], "no detector 'Axon'; did you mean"),
        (["fit", "t.csv", "-o", "m"], "window must be at most the series length 50, got 100"),
        (["fit", "t.csv", "-o", "m", "--rows", "99"], "--rows must be at most the series"),
        (["fit", "t.csv", "-o", "m", "--config", "c.toml"], "c.toml does not exist"),
        (["fit", "t.csv", "-o", "m", "--ignore", "sped"], "no column 'sped'; did you mean 'speed'"),
        (["score", "nomodel", "t.csv", "-o", "s.csv"], "nomodel does not exist"),
        (["score", "MODEL", "t.csv", "-o", "s.txt"], "its ending must be one of .csv, .parquet"),
        (["score", "MODEL", "t.csv", "-o", "s.csv", "--figure", "s.bmp"], "cannot draw 's.bmp'"),
        (["score", "MODEL", "t.csv", "-o", "t.csv", "--force"], "t.csv is a file this command"),
        (["score", "MODEL", "t.csv", "-o", "t.csv"], "choose another name to write to"),
        (["evaluate", "t.csv", "-o", "t.csv", "--force"], "t.csv is a file this command reads"),
        (["score", "MODEL", "other.csv", "-o", "s.csv"], "channel 'x' not in model"),
        (["score", "MODEL", "t.csv", "-o", "s.csv", "--align", "mid"], "align must be one of"),
        (["stream", "nomodel"], "nomodel does not exist"),
        (["fit", "t.csv", "-o", "m", "--separator", "ab"], "separator must be one character"),
        (["fit", "t.csv", "-o", "m", "--config", "bad.toml"], "threshold must be one of"),
        (["fit", "t.csv", "-o", "m", "-s", "seed=99999999999999999999"], "seed must be at most"),
        (["fit", "t.csv", "-o", "m", "-s", "window=20", "-s", "d_model=800000000000"], "memory"),
        (["fit", "t.csv", "-o", "t.csv/m"], "t.csv is no folder that can be written to"),
        (["evaluate", "labelled.csv", "--window", "²"], "rule"),
        (["evaluate", "labelled.csv", "--window", "999999"], "window"),
        (["evaluate", "t.csv"], "t.csv has no column Label"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["score", "MODEL", "t.csv", "--nope"], "No such option"),
        (["demo", "--steps", "10"], "4000"),
    ],
)  # fmt: skip
def test_mistakes_get_one_red_line(run, model, tmp_path, words, message):
    frame(50).write_csv(tmp_path / "t.csv")
    pl.DataFrame({"x": np.zeros(50)}).write_csv(tmp_path / "other.csv")
    (tmp_path / "bad.toml").write_text("threshold = {a = 1}")
    labels = np.arange(50) // 25
    pl.DataFrame({"score": np.arange(50), "Label": labels}).write_csv(tmp_path / "labelled.csv")
    before = sorted(tmp_path.iterdir())
    code, _, err = run(*(model if word == "MODEL" else word for word in words))
    assert_one_red_line(code, err, message)
    assert sorted(tmp_path.iterdir()) == before, "a refused command leaves nothing behind"


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
    import signal
    import subprocess

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


def test_device_can_be_chosen_when_scoring(run, model, tmp_path):
    frame(50).write_csv(tmp_path / "x.csv")
    code, _, err = run("score", model, "x.csv", "-o", "s.csv", "--device", "cuda:77")
    assert_one_red_line(code, err, "device 'cuda:77'")
    assert run("score", model, "x.csv", "-o", "s.csv", "--device", "cpu")[0] == 0


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
    assert "note: only 5 rows came; the first score needs 16" in err


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


def test_list_and_version(run):
    assert "AxonAD" in run("list")[1]
    assert axonad.__version__ in run("--version")[1]


def test_help_without_words(run):
    code, out, err = run()
    assert code == 2
    assert "fit" in out + err


def test_small_demo(run, tmp_path):
    code, out, err = run("demo", "--steps", "4000", "--epochs", "1", "--out", "d")
    assert (code, err) == (0, "")
    assert "planted faults" in out
    assert "VUS-PR" in out
    assert (tmp_path / "d" / "demo.png").read_bytes().startswith(b"\x89PNG")
    scores = pl.read_csv(tmp_path / "d" / "scores.csv")
    assert scores.columns == ["step", "time", "score", "d_rec", "d_q", "alarm", "label"]
    assert scores.height == 2000
    code, _, err = run("demo", "--steps", "4000", "--out", "d")
    assert_one_red_line(code, err, "already exists")


def test_list_tells_all_about_one_detector(run):
    code, out, _ = run("list", "KNN")
    assert code == 0
    assert "SIGMOD" in out
    assert "max_train" in out
    code, out, _ = run("list", "AxonAD")
    assert "'array'" in out, "what the parity protocol changes"
    code, _, err = run("list", "KN")
    assert (code, "no detector 'KN'; did you mean 'KNN'" in err) == (2, True)
