"""``axonad``: help, version, exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest
from typer.main import get_command

import axonad
from axonad.cli.app import app
from tests.cli.small_runs import assert_one_red_line, assert_refused


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_breaks_an_import_is_no_other_error(run, monkeypatch, number, code):
    class Broken:
        def __getattr__(self, name):
            try:
                os.kill(os.getpid(), number)
                threading.Event().wait(20)
            except BaseException:
                raise ImportError("half a module") from None

    monkeypatch.setitem(sys.modules, "axonad.cli.app", Broken())
    found, _, err = run("list")
    assert (found, err) == (code, "error: interrupted\n" if code == 130 else "")


def test_output_that_cannot_be_written_is_an_error(run, monkeypatch):
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:  # noqa: PTH123
        patch.setattr(sys, "stdout", full)
        answer = run("list")
    assert_one_red_line(answer, "No space left on device")


def commands(group, *words):
    """Yield the words of every group and command."""
    yield words
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *words, name)


@pytest.mark.parametrize("words", list(commands(get_command(app))), ids=" ".join)
def test_every_command_and_group_has_a_short_option_for_help(run, words):
    code, out, err = run(*words, "-h")
    assert (code, err) == (0, "")
    assert "-h, --help" in out


def test_a_fault_in_the_code_is_not_hidden(monkeypatch):
    def fail():
        raise RuntimeError("a bug")

    monkeypatch.setattr("axonad.cli.list.list_detectors", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        axonad.cli.main(["list"])
