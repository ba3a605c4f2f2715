"""``axonad paper``: tables and figures from rows there are, and in miniature."""

from __future__ import annotations

import shutil

import pytest

from axonad.bench.results import read_rows
from tests.cli.test_cli import run  # noqa: F401 - a fixture
from tests.conftest import ROOT

ROWS = ROOT / "benchmarks/tsb-ad-m"
SHOWN = ("ablation", "sensitivity", "runtime")


@pytest.fixture
def committed(tmp_path):
    """Return a folder with the committed rows and their README."""
    folder = tmp_path / "tsb"
    folder.mkdir()
    for name in ("rows.csv", "README.md"):
        shutil.copy(ROWS / name, folder / name)
    return folder


def test_table2_from_committed_rows_writes_beside_them(run, tmp_path, committed):  # noqa: F811
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


def test_the_tables_in_miniature(run, tmp_path):  # noqa: F811
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


def test_mistakes_are_one_sentence(run, tmp_path):  # noqa: F811
    code, _, err = run("paper", "table1", "--data", tmp_path)
    assert code == 2
    assert "makes its own series; leave out --data" in err
    code, _, err = run("paper", "runtime", "--small", "-p", "causal")
    assert code == 2
    assert "has no protocol 'causal'; it has parity" in err
    code, _, err = run("paper", "table2", "--show", "--out", ROWS, "-p", "parody", "-w", "x")
    assert code == 2
    assert "protocol must be one of" in err


LOOKED_INTO = ("paper/diagnostics", "paper/diagnostics/tsb-ad-m", "paper/diagnostics/telemetry")


@pytest.mark.parametrize(
    ("experiment", "rows", "kept", "options"),
    [
        ("table1", "telemetry", "paper/table1", ()),
        ("table2", "tsb-ad-m", "paper/table2", ()),
        *((name, f"paper/{name}", f"paper/{name}", ()) for name in SHOWN),
        ("runtime", "paper/runtime/cpu", "paper/runtime/cpu", ()),
        *(
            ("diagnostics", rows, f"{rows}/{protocol}", ("--protocol", protocol))
            for rows in LOOKED_INTO
            for protocol in ("parity", "causal")
        ),
    ],
)
def test_committed_tables_are_those_of_the_committed_rows(
    run,  # noqa: F811
    tmp_path,
    experiment,
    rows,
    kept,
    options,
):
    """Rows that came later need ``axonad paper EXPERIMENT --show`` once more."""
    benchmarks = ROOT / "benchmarks"
    code, _, err = run(
        "paper", experiment, "--show", *options, "--out", benchmarks / rows, "--write", "made"
    )
    assert code == 0, err
    tables = sorted((benchmarks / kept).glob("*.md"))
    assert tables
    for path in tables:
        assert path.read_text() == (tmp_path / "made" / path.name).read_text(), path.name


@pytest.mark.parametrize("on", ["tsb-ad-m", "telemetry"])
def test_committed_findings_are_those_of_the_command(run, tmp_path, request, on):  # noqa: F811
    """What is committed is not computed again."""
    shutil.copytree(ROOT / "benchmarks/paper/diagnostics" / on, tmp_path / on)
    before = (tmp_path / on / "findings.csv").read_bytes()
    data = ()
    if on == "tsb-ad-m":
        data = ("--data", request.getfixturevalue("shared_data") / "TSB-AD-M-dev.zip")
    words = ("--on", on, *data, "--seeds", "2024", "--out", on, "--write", "made")
    code, _, err = run("paper", "diagnostics", *words, "--device", "cpu")
    assert code == 0, err
    assert "0 to do" in err
    assert (tmp_path / on / "findings.csv").read_bytes() == before
