"""``axonad paper diagnostics``: run small, resumed, shown from committed findings, refused."""

from __future__ import annotations

import shutil

import pytest

from axonad.paper.diagnostics.finding import AsRunFindings, read_findings
from tests.cli.paper.committed import assert_same_tables
from tests.conftest import ROOT

AS_RUN = ROOT / "benchmarks/paper/diagnostics/as-run"


def test_diagnostics_run_small(run, tmp_path, monkeypatch):
    words = ("paper", "diagnostics", "--small", "--device", "cpu", "--seeds", "2024", "--out", "d")
    code, out, err = run(*words)
    assert code == 0
    assert "Spearman of query deviation and tail KL, median" in out
    assert "1/1  telemetry-2024" in err
    assert [finding.row.status for finding in read_findings(tmp_path / "d")] == ["ok"]
    tables = [f"{name}{end}" for name in ("diagnostics", "rules", "series")
              for end in (".md", ".tex", ".csv")]  # fmt: skip
    figures = [f"{name}{end}" for name in ("parts", "queries", "rules") for end in (".png", ".svg")]
    for name in (*tables, *figures):
        assert (tmp_path / "d" / name).stat().st_size > 0, name
    before = (tmp_path / "d/findings.csv").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("axonad.cli.paper.diagnostics.write_results", lambda *args, **more: None)
        code, _, err = run(*words)
    assert code == 0
    assert "1 jobs were done before; 0 to do" in err
    assert (tmp_path / "d/findings.csv").read_bytes() == before
    (tmp_path / "d/queries.png").unlink()
    code, shown, _ = run("paper", "diagnostics", "--show", "--out", "d", "--write", "w")
    assert code == 0
    assert shown.splitlines()[:20] == out.splitlines()[:20]
    assert (tmp_path / "w/queries.png").is_file()
    assert not (tmp_path / "d/queries.png").exists()


@pytest.mark.slow
def test_diagnostics_as_run_small_are_shown_and_resumed(run, tmp_path):
    words = ("paper", "diagnostics", "--as-run", "--out", "d")
    small = ("--small", "--device", "cpu", "--seeds", "2024")
    code, out, err = run(*words, *small)
    assert code == 0, err
    assert "Mechanistic diagnostics as the authors' script runs them" in out
    assert [finding.row.status for finding in AsRunFindings(tmp_path / "d").read()] == ["ok"]
    for name in ("as-run.md", "probe.md", "probe.tex", "probe.png"):
        assert (tmp_path / "d" / name).stat().st_size > 0, name
    code, again, err = run(*words, *small)
    assert "0 to do" in err
    ours = ("--ours", ROOT / "benchmarks/paper/diagnostics")
    code, shown, err = run(*words, "--show", "--write", "w", *ours)
    assert code == 0, err
    assert again == out
    assert "  0.649  " in shown, "ours, committed"


def test_diagnostics_of_another_suites_series(run, tmp_path):
    code, _, err = run(
        "paper", "diagnostics", "--on", "telemetry", "--seeds", "1", "--series", "nowhere"
    )  # fmt: skip
    assert code == 2
    assert "no series has 'nowhere' in its name" in err


def test_mistakes_are_one_sentence(run, tmp_path):
    for words, said in (
        (("diagnostics", "--small", "--on", "telemetry"), "leave out --data and --on"),
        (("diagnostics", "--ours", "x"), "--ours adds a column to the table of --as-run"),
        (("diagnostics", "--as-run", "--show"), "run `axonad paper diagnostics --as-run` first"),
        (
            ("diagnostics", "--as-run", "--protocol", "causal", "--data", "."),
            "no protocol 'causal'",
        ),
        (("diagnostics", "--show"), "run `axonad paper diagnostics` first"),
        (("diagnostics", "--on", "telemetri"), "no suite 'telemetri'"),
        (("diagnostics", "--small", "--device", "gpu"), "gpu"),
    ):
        code, _, err = run("paper", *words)
        assert code == 2, words
        assert said in err
        assert len(err.strip().splitlines()) == 1


COMMITTED = (
    ("", "parity"), ("", "causal"), ("tsb-ad-m", "parity"), ("tsb-ad-m", "causal"),
    ("telemetry", "heldout"), ("telemetry", "causal"),
)  # fmt: skip


@pytest.mark.parametrize(("on", "protocol"), COMMITTED)
@pytest.mark.usefixtures("tables_only")
def test_committed_tables_are_those_of_the_committed_findings(run, tmp_path, on, protocol):
    folder = ROOT / "benchmarks/paper/diagnostics" / on
    words = ("--show", "--protocol", protocol, "--out", folder, "--write", "made")
    code, _, err = run("paper", "diagnostics", *words)
    assert code == 0, err
    assert_same_tables(folder / protocol, tmp_path / "made")


@pytest.mark.parametrize(("on", "protocol"), [("tsb-ad-m", "parity"), ("telemetry", "heldout")])
@pytest.mark.usefixtures("tables_only")
def test_committed_findings_are_those_of_the_command(run, tmp_path, request, on, protocol):
    """What is committed is not computed again."""
    shutil.copytree(ROOT / "benchmarks/paper/diagnostics" / on, tmp_path / on)
    before = (tmp_path / on / "findings.csv").read_bytes()
    data = ()
    if on == "tsb-ad-m":
        data = ("--data", request.getfixturevalue("shared_data") / "TSB-AD-M-dev.zip")
    words = ("--on", on, "--protocol", protocol, *data, "--seeds", "2024", "--out", on)
    code, _, err = run("paper", "diagnostics", *words, "--write", "made", "--device", "cpu")
    assert code == 0, err
    assert "0 to do" in err
    assert (tmp_path / on / "findings.csv").read_bytes() == before


@pytest.mark.parametrize("folder", [path.parent for path in AS_RUN.glob("findings.csv")])
@pytest.mark.usefixtures("tables_only")
def test_committed_tables_as_run_are_those_of_the_committed_findings(run, tmp_path, folder):
    ours = ("--ours", ROOT / "benchmarks/paper/diagnostics")
    words = ("--as-run", "--show", "--out", folder, "--write", "made", *ours)
    code, _, err = run("paper", "diagnostics", *words)
    assert code == 0, err
    assert_same_tables(folder, tmp_path / "made")
