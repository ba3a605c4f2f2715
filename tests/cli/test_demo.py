"""``axonad demo``: a small one, end to end."""

from __future__ import annotations

import polars as pl

from axonad.cli.demo import CHANNELS
from tests.cli.small_runs import assert_one_red_line


def test_small_demo(run, tmp_path, saved_figures):
    code, out, err = run("demo", "--steps", "4000", "--epochs", "1", "--out", "d")
    assert (code, err) == (0, "")
    assert "planted faults" in out
    assert "VUS-PR" in out
    assert (tmp_path / "d" / "demo.png").read_bytes().startswith(b"\x89PNG")
    planted = int(out.split(" faults planted")[0].split()[-1])
    axes = saved_figures["demo.png"].axes
    assert [axis.get_ylabel() for axis in axes[:4]] == list(CHANNELS)
    assert all(len(axis.patches) == planted for axis in axes), "every fault is shaded"
    scores = pl.read_csv(tmp_path / "d" / "scores.csv")
    assert scores.columns == ["step", "time", "score", "d_rec", "d_q", "alarm", "label"]
    assert scores.height == 2000
    assert_one_red_line(run("demo", "--steps", "4000", "--out", "d"), "already exists")
