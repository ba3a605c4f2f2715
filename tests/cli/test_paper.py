"""``axonad paper``: a miniature of every experiment, end to end."""

from __future__ import annotations

from axonad.bench.results import read_rows
from tests.cli.test_cli import run  # noqa: F401 - a fixture


def test_ablation_and_sensitivity_in_miniature(run, tmp_path):  # noqa: F811
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


def test_mistakes_are_one_sentence(run, tmp_path):  # noqa: F811
    code, _, err = run("paper", "ablation", "--small", "--data", tmp_path)
    assert code == 2
    assert "--small makes its own series; leave out --data" in err
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
