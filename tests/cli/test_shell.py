"""What scripts and shells rely on: completion, JSON on stdout, --quiet, --verbose, NO_COLOR."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
import typer.main
from typer.main import get_command

import axonad
from axonad import progress
from axonad.bench.suite import known_suites
from axonad.cli.app import app
from axonad.cli.terminal import print_note
from tests.cli.small_runs import QUICK, frame
from tests.conftest import ROOT

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")


# -- completion --------------------------------------------------------------------------------


@pytest.fixture
def complete(run, monkeypatch):
    """Return what bash is offered after some words."""

    def complete(*words):
        monkeypatch.setenv("_AXONAD_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["axonad", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        code, out, err = run()
        assert (code, err) == (0, "")
        return out.split()

    return complete


def test_detectors_suites_and_metrics_are_completed(complete):
    assert complete("list", "Cross") == ["CrossChannelRidge"]
    assert complete("fit", "x.csv", "--detector", "Shape") == ["ShapeMemory"]
    suites = sorted(name for name in known_suites() if name.startswith("tele"))
    assert complete("bench", "run", "tele") == suites
    assert "VUS-PR" in complete("bench", "table", "x", "--metric", "VUS-P")
    assert complete("do") == ["doctor"]


def test_completion_is_shown_and_installed(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    fresh = typer.main.get_command.__wrapped__  # the variable counts while the command is made
    monkeypatch.setattr(typer.main, "get_command", fresh)
    code, out, _ = run("--show-completion", "bash")
    assert code == 0
    assert "_AXONAD_COMPLETE=complete_bash" in out
    assert run("--install-completion", "bash")[0] == 0
    assert "axonad" in (tmp_path / ".bashrc").read_text()


# -- JSON --------------------------------------------------------------------------------------


def test_every_command_that_prints_a_table_has_json():
    """Those without: stream always prints JSON, live and demo are for people, paper writes."""
    group = get_command(app)
    commands = {
        **{name: one for name, one in group.commands.items() if not hasattr(one, "commands")},
        **{f"bench {name}": one for name, one in group.commands["bench"].commands.items()},
        "live-key list": group.commands["live-key"].commands["list"],
    }
    has = {name for name, one in commands.items() if any("--json" in p.opts for p in one.params)}
    assert set(commands) - has == {"demo", "live", "stream"}


@pytest.fixture
def files(run, tmp_path):
    """A normal and a faulty file, a small model, and a function that returns a command's JSON."""
    frame(400, time=True).write_csv(tmp_path / "train.csv")
    drive = frame(300, seed=1, time=True).with_columns(Label=pl.lit(0))
    fault = pl.int_range(pl.len()).is_between(150, 180)
    drive = drive.with_columns(
        speed=pl.col("speed") + 8 * fault, Label=pl.when(fault).then(1).otherwise(0)
    )
    drive.write_csv(tmp_path / "drive.csv")

    def answer(*words, code=0):
        found, out, err = run(*words, "--json")
        assert found == code, err
        assert out.count("\n") == 1, "stdout has nothing but one line of JSON"
        return json.loads(out)

    return answer


def test_the_way_from_data_to_a_verdict_in_json(files, tmp_path):
    fitted = files("fit", "train.csv", "--out", "m", "--detector", "CrossChannelRidge")
    assert fitted["detector"] == "CrossChannelRidge"
    assert fitted["report"]["rows"] == 400
    scored = files("score", "m", "drive.csv", "--out", "s.csv")
    assert scored[0]["steps"] == 300
    assert any(150 <= event["start"] <= 180 for event in scored[0]["events"])
    assert scored[0]["written"] == ["s.csv"]
    metrics = files("evaluate", "s.csv", "--labels", "drive.csv", "--out", "e.json")
    assert metrics == json.loads((tmp_path / "e.json").read_text())
    budget = files("recalibrate", "m", "train.csv", "--budget", "1 per hour", "--out", "n")
    assert budget["calibration"]["steps"] == 400
    assert budget["warnings"], "40 seconds cannot promise one event per hour"
    page = files("report", "n", "drive.csv", "nowhere.csv", "--out", "r.html", code=1)
    assert [one["name"] for one in page["recordings"]] == ["drive.csv"]
    assert page["failures"][0]["name"] == "nowhere.csv"


def test_lists_in_json(files):
    names = [entry["name"] for entry in files("list")]
    assert names == [entry.name for entry in axonad.list_detectors()]
    one = files("list", "PCA")
    window = next(entry for entry in one["parameters"] if entry["name"] == "window")
    assert (window["default"], window["parity"]) == (1, 100)
    suites = {entry["name"]: entry for entry in files("bench", "suites")}
    assert suites["smoke"]["detectors"] == ["AxonAD", "CrossChannelRidge", "RandomScore"]
    jobs = files("bench", "run", "smoke", "--dry-run")
    assert {job["detector"] for job in jobs} == set(suites["smoke"]["detectors"])
    table = files(
        "bench", "table", ROOT / "benchmarks" / "coordination" / "rows.csv", "-p", "causal"
    )
    by_name = {row["detector"]: row for row in table["rows"]}
    assert 0 < by_name["PCA"]["VUS-PR"] < 1


# -- how much is said --------------------------------------------------------------------------


def test_quiet_leaves_out_notes_and_progress(run, monkeypatch):
    monkeypatch.setattr(progress, "_is_terminal", lambda: True)
    seen = []

    def list_some():
        print_note("something to know")
        seen.append(progress.is_shown())
        return axonad.list_detectors()

    monkeypatch.setattr("axonad.cli.list.list_detectors", list_some)
    _, loud, note = run("list")
    code, out, err = run("--quiet", "list")
    assert (code, out, err) == (0, loud, "")
    assert note == "note: something to know\n"
    assert run("list")[2] == note, "one command does not change the next"
    assert seen == [True, False, True]
    assert run("-q", "-v", "list")[0] == 2


def test_verbose_adds_versions_and_the_traceback(run):
    code, _, err = run("-v", "score", "nowhere", "x.csv", "--out", "s.csv")
    assert code == 2
    lines = err.splitlines()
    assert lines[0].startswith(f"axonad {axonad.__version__}, python ")
    assert "Traceback (most recent call last):" in lines
    assert lines[-2].startswith("error: nowhere")
    assert lines[-1].startswith("exit code 2 after ")


@pytest.mark.parametrize("no_color", ["", "1"])
def test_no_color_is_honoured(run, monkeypatch, no_color):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    _, _, err = run("fit", "nowhere.csv", "--out", "m", *QUICK)
    assert bool(COLOUR.search(err)) == (not no_color)
