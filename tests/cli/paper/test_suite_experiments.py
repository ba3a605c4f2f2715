"""The tables and figures of each experiment that runs a suite."""

from __future__ import annotations

import shutil

import pytest

from axonad.bench.results import read_rows
from tests.cli.paper.committed import assert_same_tables
from tests.conftest import ROOT

ROWS = ROOT / "benchmarks/tsb-ad-m"


@pytest.fixture
def committed(tmp_path):
    """Return a folder with the committed rows and their README."""
    folder = tmp_path / "tsb"
    folder.mkdir()
    for name in ("rows.csv", "README.md"):
        shutil.copy(ROWS / name, folder / name)
    return folder


def test_table2_from_committed_rows_writes_beside_them(run, tmp_path, committed):
    before = {path.name: path.read_bytes() for path in committed.iterdir()}
    code, out, _ = run("paper", "table2", "--show", "--out", committed, "--write", "made")
    assert code == 0
    assert "44 of 44" in out
    assert "split eval" in out
    assert "of 54" not in out, "tuning series are no part of it"
    made = {path.name for path in (tmp_path / "made").iterdir()}
    for name in ("table2.md", "table-s3-parity.tex", "table-s4-causal.csv", "figure5-parity.png"):
        assert name in made
    assert {path.name: path.read_bytes() for path in committed.iterdir()} == before
    code, out, _ = run("paper", "table2", "--show", "--out", committed, "-p", "causal", "-w", "one")
    assert code == 0
    assert "ours, parity" not in out
    assert "no table table-s3-parity: there are no rows of protocol parity" in out
    assert not (tmp_path / "one/figure5-parity.png").exists()


@pytest.mark.usefixtures("in_process")
def test_the_tables_run_small(run, tmp_path):
    few = ("--small", "--device", "cpu", "--workers", "1", "--seeds", "2024")
    code, out, _ = run("paper", "table1", *few, "-d", "AxonAD,PCA", "-p", "parity", "--out", "t1")
    assert code == 0
    assert {(row.label, row.protocol) for row in read_rows("t1")} == {
        ("AxonAD", "parity"),
        ("PCA", "parity"),
    }
    for name in ("table1.md", "split.md", "split.png", "split.svg"):
        assert (tmp_path / "t1" / name).is_file()
    assert "LSTMAD" in out, "the paper's line of a detector that was not run"
    code, out, _ = run("paper", "runtime", *few, "-d", "AxonAD,IForest", "--out", "r")
    assert code == 0
    assert "ms / AxonAD" in out
    assert (tmp_path / "r/runtime.svg").is_file()


def test_mistakes_are_one_sentence(run, tmp_path):
    code, _, err = run("paper", "table1", "--data", tmp_path)
    assert code == 2
    assert "generates its series; leave out --data" in err
    code, _, err = run("paper", "runtime", "--small", "-p", "causal")
    assert code == 2
    assert "has no protocol 'causal'; it has heldout" in err
    code, _, err = run("paper", "table2", "--show", "--out", ROWS, "-p", "parody", "-w", "x")
    assert code == 2
    assert "protocol must be one of" in err


@pytest.mark.parametrize(
    ("experiment", "rows", "kept"),
    [
        ("table1", "telemetry", "paper/table1"),
        ("table1-seeds", "telemetry/seeds", "paper/table1-seeds"),
        ("table2", "tsb-ad-m", "paper/table2"),
        ("ablation", "paper/ablation", "paper/ablation"),
        ("sensitivity", "paper/sensitivity", "paper/sensitivity"),
        ("tuning", "paper/tuning", "paper/tuning"),
        ("runtime", "paper/runtime", "paper/runtime"),
        ("runtime", "paper/runtime/cpu", "paper/runtime/cpu"),
    ],
)
def test_committed_tables_are_those_of_the_committed_rows(
    run, tmp_path, request, experiment, rows, kept
):
    if experiment != "tuning":  # small runs draw the figures of the others
        request.getfixturevalue("tables_only")
    benchmarks = ROOT / "benchmarks"
    words = ("--show", "--out", benchmarks / rows, "--write", "made")
    code, _, err = run("paper", experiment, *words)
    assert code == 0, err
    assert_same_tables(benchmarks / kept, tmp_path / "made")
