"""``axonad``: help, version, exit codes."""

from __future__ import annotations

import pytest

import axonad
from tests.cli.small_runs import assert_refused


def test_version(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"axonad {axonad.__version__}\n")


def test_help_without_words(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    for command in (
        "fit",
        "score",
        "stream",
        "evaluate",
        "export",
        "list",
        "demo",
        "bench",
        "paper",
    ):
        assert f"\n  {command} " in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["demo", "--steps", "10"], "4000"),
    ],
)  # fmt: skip
def test_mistakes_get_one_red_line(run, tmp_path, words, message):
    assert_refused(run, tmp_path, words, message)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted"),
        (MemoryError(), 2, "error: out of memory; use a smaller window"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "Permission denied: 'x.csv'"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_errors_become_a_line_and_an_exit_code(run, monkeypatch, error, code, message):
    def fail():
        raise error

    monkeypatch.setattr("axonad.cli.list.list_detectors", fail)
    monkeypatch.setattr("os.dup2", lambda *_: None)  # the test's own stdout stays open
    found, _, err = run("list")
    assert found == code
    assert message in err
    assert err.count("\n") == bool(message)


def test_a_fault_in_the_code_is_not_hidden(monkeypatch):
    def fail():
        raise RuntimeError("a bug")

    monkeypatch.setattr("axonad.cli.list.list_detectors", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        axonad.cli.main(["list"])
