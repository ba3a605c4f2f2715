"""``axonad fit``: what it saves, prints and refuses."""

from __future__ import annotations

import sys

import polars as pl
import pytest

import axonad
from tests.cli.small_runs import assert_refused, frame


def test_config_file_and_words_agree(run, tmp_path):
    frame(100).write_csv(tmp_path / "t.csv")
    (tmp_path / "c.toml").write_text("window = 8\ntail = 2\nd_model = 8\nheads = 1\nepochs = 9\n")
    code, *_ = run("fit", "t.csv", "-o", "m", "--config", "c.toml", "--set", "epochs=1", "-s",
                   "dilations=1,2", "--detector", "AxonAD")  # fmt: skip
    assert code == 0
    detector = axonad.load(tmp_path / "m")
    assert (detector.window, detector.epochs, detector.dilations) == (8, 1, (1, 2))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv", "-o", "m"], "none.csv does not exist"),
        (["t.csv"], "Missing option '--out'"),
        (["t.csv", "-o", "m", "-s", "windwo=3"], "no parameter 'windwo'; did you mean 'win"),
        (["t.csv", "-o", "m", "-s", "window"], "expected NAME=VALUE, got 'window'"),
        (["t.csv", "-o", "m", "-s", "window=x"], "window must be an integer, got 'x'"),
        (["t.csv", "-o", "m", "--detector", "Axon"], "no detector 'Axon'; did you mean"),
        (["t.csv", "-o", "m"], "window must be at most the series length 50, got 100"),
        (["t.csv", "-o", "m", "--rows", "99"], "--rows must be at most the series"),
        (["t.csv", "-o", "m", "--config", "c.toml"], "c.toml does not exist"),
        (["t.csv", "-o", "m", "--config", "bad.toml"], "threshold must be one of"),
        (["t.csv", "-o", "m", "--ignore", "sped"], "no column 'sped'; did you mean 'speed'"),
        (["t.csv", "-o", "m", "--separator", "ab"], "separator must be one character"),
        (["t.csv", "-o", "m", "-s", "seed=99999999999999999999"], "seed must be at most"),
        (["t.csv", "-o", "m", "-s", "window=20", "-s", "d_model=800000000000"], "memory"),
        (["t.csv", "-o", "t.csv/m"], "t.csv is not a writable folder"),
        (["t.csv", "-o", "m", "--nope"], "No such option"),
        (["t.csv", "-o", "m", "--detector", "PCA", "--context", "sped"],
         "context channel 'sped' not in the training data; did you mean 'speed'?"),
    ],
)  # fmt: skip
def test_mistakes_get_one_red_line(run, tmp_path, words, message):
    assert_refused(run, tmp_path, ["fit", *words], message)


def test_the_report_is_printed(run, tmp_path):
    data = frame(100).with_columns(stuck=pl.lit(2.0))
    data.write_csv(tmp_path / "t.csv")
    sizes = ("window=8", "epochs=2", "d_model=8", "heads=1")
    code, out, _ = run("fit", "t.csv", "-o", "m", *(word for s in sizes for word in ("--set", s)))
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    assert lines[1].startswith("on t.csv: 100 rows, 4 channels,")
    for start in ("threshold ", "validation error by epoch: ", "weights of the views: shape 1"):
        assert any(line.startswith(start) for line in lines), start
    assert "warning: a channel is constant in the training data: stuck" in lines
    assert lines[-1] == "saved to m"


def test_constants_are_refused_in_one_line(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50)
    code, _, err = run("fit", "t.csv", "-o", "m", "--detector", "ControlChart")
    assert code == 2
    assert "nothing to learn from the training data: all 2 channels are constant" in err
    assert not (tmp_path / "m").exists()


RIDGE = ["--detector", "CrossChannelRidge"]


def drive(rows, start, stop):
    ambient = pl.Series([start + (stop - start) * i / rows for i in range(rows)])
    return frame(rows, time=True).with_columns(ambient=ambient)


def test_context_is_suggested_named_and_new(run, tmp_path):
    drive(200, 18, 24).write_csv(tmp_path / "summer.csv")
    drive(200, -5, 2).write_csv(tmp_path / "winter.csv")
    code, out, _ = run("fit", "summer.csv", "-o", "plain", *RIDGE)
    assert code == 0
    assert "note: ambient only rises; if it only sets the scene, name it as context" in out
    words = ["--context", "ambient"]
    code, out, _ = run("fit", "summer.csv", "-o", "m", *RIDGE, *words)
    assert code == 0
    assert "context=('ambient',)" in out
    assert "only rises" not in out
    for chunk in ([], ["--chunk", "50"]):
        code, _, err = run("score", "m", "winter.csv", "-o", "s.csv", "--force", *chunk)
        assert code == 0
        assert err.count("note: ") == 1
        assert "note: winter.csv: ambient is -5 to 1.965 here, training saw 18 to 23.97: new" in err


def test_context_options_agree(run, tmp_path):
    drive(200, 18, 24).write_csv(tmp_path / "t.csv")
    (tmp_path / "c.toml").write_text('context = ["ambient", "speed"]\n')
    for words in (
        ["--context", "ambient, speed"], ["--context", "ambient", "--context", "speed"],
        ["-s", "context=ambient, speed"], ["--config", "c.toml"],
    ):  # fmt: skip
        assert run("fit", "t.csv", "-o", "m", "--force", *RIDGE, *words)[0] == 0
        assert axonad.load(tmp_path / "m").context == ("ambient", "speed")


def test_without_torch_the_views_that_need_none_are_used(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    frame(300).write_csv(tmp_path / "t.csv")
    code, _, err = run("fit", "t.csv", "-o", "m")
    assert code == 0
    assert err.startswith("note: torch is not installed, so MultiView works without its network")
    assert err.endswith("for all four views: pip install 'axonad[network]'\n")
    assert err.count("\n") == 1
    assert axonad.load(tmp_path / "m").views == ("shape", "forecast", "relation")
    code, _, err = run("fit", "t.csv", "-o", "m2", "--set", "views=forecast")
    assert (code, err) == (0, "")


@pytest.mark.parametrize("words", [["fit", "--verbose"], ["--verbose", "fit"]])
def test_verbose_says_how_long_each_part_took(run, tmp_path, words):
    frame(200).write_csv(tmp_path / "t.csv")
    code, out, _ = run(*words, "t.csv", "-o", "m", "--detector", "PCA")
    assert code == 0
    line = next(line for line in out.splitlines() if " s: " in line)
    for part in ("reading", "learning", "reference", "calibration"):
        assert f"{part} 0." in line
