"""Experiments that run a suite: run small, resumed, shown from existing rows, refused."""

from __future__ import annotations

import pytest

from axonad.bench.results import read_rows
from tests.conftest import ROOT


@pytest.mark.usefixtures("in_process")
def test_ablation_and_sensitivity_run_small(run, tmp_path):
    few = ("--small", "--device", "cpu", "--workers", "1", "--seeds", "2024")
    labels = "base,predict-keys,recon-only-scoring"
    code, out, _ = run("paper", "ablation", *few, "-d", labels, "--out", "a")
    assert code == 0
    assert "ours, as written: predict-keys" in out
    assert {row.label for row in read_rows("a")} == set(labels.split(","))
    for ending in (".md", ".tex", ".csv"):
        assert (tmp_path / f"a/ablation{ending}").is_file()
    code, _, err = run("paper", "ablation", *few, "-d", labels, "--out", "a")
    assert code == 0
    assert "3 jobs were done before; 0 to do" in err
    (tmp_path / "a/ablation.md").unlink()
    code, shown, _ = run("paper", "ablation", "--show", "--out", "a")
    assert code == 0
    assert "ours, as written: predict-keys" in shown
    assert (tmp_path / "a/ablation.md").is_file()
    code, out, _ = run("paper", "sensitivity", *few, "-d", "base,horizon-3", "--out", "s")
    assert code == 0
    assert "forecast horizon s" in out
    for ending in (".png", ".svg", ".md"):
        assert (tmp_path / f"s/sensitivity{ending}").is_file()


def test_mistakes_are_one_sentence(run, tmp_path):
    code, _, err = run("paper", "ablation", "--small", "--data", tmp_path)
    assert code == 2
    assert "--small generates its series; leave out --data" in err
    code, _, err = run("paper", "ablation", "--show")
    assert code == 2
    assert "expected rows of `axonad bench run`" in err
    code, _, err = run("paper", "ablation", "--data", tmp_path / "none.zip")
    assert code == 2
    assert "none.zip" in err
    code, _, err = run("paper", "ablation", "--small", "-d", "predict-key")
    assert code == 2
    assert "no detector 'predict-key'" in err
    code, _, err = run("paper", "sensitivity", "--small", "--engine", "cloud")
    assert code == 2
    assert "engine must be one of" in err


def test_what_is_shown_is_what_was_asked_for(run, tmp_path):
    committed = ROOT / "benchmarks/paper"
    both = ("paper", "sensitivity", "--show", "--out", committed / "sensitivity", "-w", "w")
    code, out, _ = run(*both, "--seeds", "2025", "--series", "MSL")
    assert code == 0
    first = next(line for line in out.splitlines() if line.startswith("forecast horizon s"))
    assert first.split()[-2:] == ["2", "1"], "two series, one seed"
    code, _, err = run(*both, "--seeds", "99")
    assert code == 2
    assert "none of 180 rows matches --seeds 99" in err


def test_rows_of_another_experiment_are_not_shown(run, tmp_path):
    committed = ROOT / "benchmarks/paper"
    for words, said in (
        (("ablation", "--out", committed / "sensitivity"), "rows of suite paper-sensitivity; abl"),
        (("table2", "--out", ROOT / "benchmarks/telemetry"), "shows those of tsb-ad-m"),
        (("ablation", "--small"), "results/paper-ablation-small"),
    ):
        code, _, err = run("paper", *words, "--show", "--write", "w")
        assert code == 2, words
        assert said in err
        assert not (tmp_path / "w").exists()
    (tmp_path / "file").write_text("mine")
    code, _, err = run("paper", "ablation", "--small", "--write", "file")
    assert code == 2
    assert "file is a file; expected a folder" in err
    assert not (tmp_path / "results").exists(), "refused before any work"
