"""``axonad demo``: a small one, end to end."""

from __future__ import annotations

import sys

import polars as pl

from axonad.cli import demo as demo_module
from axonad.cli.demo import CHANNELS
from axonad.registry import make_detector
from tests.cli.small_runs import assert_one_red_line
from tests.quick import QUICK


def test_small_demo(run, tmp_path, saved_figures, monkeypatch):
    def small(name, **params):
        assert name == "MultiView"
        return make_detector(name, **QUICK[name] | params)

    monkeypatch.setattr(demo_module, "make_detector", small)
    code, out, err = run("demo", "--steps", "4000", "--epochs", "1", "--out", "d")
    assert code == 0
    assert err.splitlines() == [
        "simulating two drives", "scoring a drive without faults", "scoring the drive with faults",
        "explaining the events",
    ], "without a terminal progress is lines"  # fmt: skip
    assert "planted faults" in out
    assert "VUS-PR" in out
    assert "threshold from another drive without faults" in out
    assert out.endswith("wrote d/demo.png, d/scores.csv and d/report.html\n")
    page = (tmp_path / "d" / "report.html").read_text(encoding="utf-8")
    assert "axonad demo --steps 4000 --epochs 1 --seed 2024 --out demo" in page
    assert "simulated drive" in page
    assert (tmp_path / "d" / "demo.png").read_bytes().startswith(b"\x89PNG")
    planted = int(out.split(" faults planted")[0].split()[-1])
    axes = saved_figures["demo.png"].axes
    assert [axis.get_ylabel() for axis in axes[:4]] == list(CHANNELS)
    assert all(len(axis.patches) == planted for axis in axes), "every fault is shaded"
    scores = pl.read_csv(tmp_path / "d" / "scores.csv")
    assert scores.columns == ["step", "time", "score", "shape", "forecast", "relation", "network",
                              "alarm", "label"]  # fmt: skip
    assert scores.height == 2000
    assert_one_red_line(run("demo", "--steps", "4000", "--out", "d"), "already exists")
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("steps"))
    steps, times = (word.split("–") for word in lines[at + 1].split()[:2])
    assert scores["label"][int(steps[0])] == 1, "the table names the steps of the scored file"
    assert scores["label"][int(steps[0]) - 1] == 0
    assert [str(scores["time"][int(step)]).removesuffix(".0") for step in steps] == times
    shown = axes[0].patches[0]
    middle = (float(times[0]) + float(times[1])) / 2
    assert shown.get_x() < middle < shown.get_x() + shown.get_width(), "and so does the picture"
    assert axes[-1].get_xlabel() == "time (s)"
    assert "severity" in lines[at]
    assert any("false event" in line for line in lines)


def test_without_matplotlib_there_is_a_note_instead_of_the_picture(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo_module, "make_detector", lambda *_, **__: make_detector("PCA"))
    code, out, err = run("demo", "--steps", "4000", "--out", "d")
    assert code == 0
    assert err.startswith("note: no demo.png is drawn: figures need matplotlib, which is not inst")
    assert err.splitlines()[1:] == [
        "simulating two drives", "scoring a drive without faults", "scoring the drive with faults",
        "explaining the events",
    ]  # fmt: skip
    assert out.endswith("wrote d/scores.csv and d/report.html\n")
    names = {path.name for path in (tmp_path / "d").iterdir()}
    assert names == {"scores.csv", "report.html"}
