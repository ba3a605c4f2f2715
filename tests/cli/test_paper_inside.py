"""``axonad paper diagnostics`` and ``axonad paper transfer``: in miniature, end to end."""

from __future__ import annotations

from axonad.paper.diagnostics.finding import read_findings
from tests.bench.jobs import write_series
from tests.cli.test_cli import run  # noqa: F401 - a fixture


def test_diagnostics_in_miniature(run, tmp_path, monkeypatch):  # noqa: F811
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
        patch.setattr("axonad.cli.paper.diagnostics.publish", lambda *args, **more: None)
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


def test_diagnostics_of_another_suites_series(run, tmp_path):  # noqa: F811
    code, _, err = run(
        "paper", "diagnostics", "--on", "telemetry", "--seeds", "1", "--series", "nowhere"
    )  # fmt: skip
    assert code == 2
    assert "no series has 'nowhere' in its name" in err


def test_transfer_in_miniature(run, tmp_path):  # noqa: F811
    code, out, _ = run("paper", "transfer", "--small", "--out", "t")
    assert code == 0
    assert "paper's stream" in out
    assert "telemetry-2025  all series" in out
    for name in ("transfer.md", "transfer.tex", "transfer.csv", "transfer.png", "segments.csv"):
        assert (tmp_path / "t" / name).is_file()
    code, shown, _ = run("paper", "transfer", "--show", "--out", "t")
    assert code == 0
    assert shown == out


def test_transfer_against_files(run, tmp_path):  # noqa: F811
    data = tmp_path / "data"
    data.mkdir()
    for number in (2, 3, 4):
        write_series(data, f"00{number}_MSL_id_{number}_Sensor_tr_{200 + number}_1st_250.csv")
    code, out, _ = run(
        "paper", "transfer", "--on", "smoke", "--seeds", "1", "--data", data, "--out", "t"
    )  # fmt: skip
    assert code == 0
    assert "all series" in out


def test_mistakes_are_one_sentence(run, tmp_path):  # noqa: F811
    for words, said in (
        (("diagnostics", "--small", "--on", "telemetry"), "leave out --data and --on"),
        (("diagnostics", "--show"), "expected what `axonad paper diagnostics` wrote"),
        (("diagnostics", "--on", "telemetri"), "no suite 'telemetri'"),
        (("diagnostics", "--small", "--device", "gpu"), "gpu"),
        (("transfer", "--show"), "expected what `axonad paper transfer` wrote"),
        (("transfer", "--small", "--data", tmp_path), "--small makes its own series"),
    ):
        code, _, err = run("paper", *words)
        assert code == 2, words
        assert said in err
        assert len(err.strip().splitlines()) == 1
