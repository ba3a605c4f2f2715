"""Fixtures of the tests of the command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from axonad.cli import main
from tests.cli.small_runs import QUICK, frame


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Run a command in an empty folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as caught:
            main([str(word) for word in words])
        out, err = capfd.readouterr()
        return caught.value.code, out, err

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A fitted model on disk."""
    folder = tmp_path_factory.mktemp("model")
    frame(400).write_csv(folder / "train.csv")
    with pytest.raises(SystemExit) as caught:
        main(["fit", str(folder / "train.csv"), "--out", str(folder / "model"), *QUICK])
    assert caught.value.code == 0
    return folder / "model"


@pytest.fixture
def saved_figures(monkeypatch):
    """Return the matplotlib figures that are saved while the test runs, by file name."""
    from matplotlib.figure import Figure

    from axonad.report import drawing

    saved = {}
    drawn = []
    savefig, write_bytes = Figure.savefig, drawing.atomic.write_bytes

    def record(figure, *words, **options):
        drawn.append(figure)
        savefig(figure, *words, **options)

    def write(path, data, **options):
        if drawn:
            saved[Path(path).name] = drawn.pop()
        write_bytes(path, data, **options)

    monkeypatch.setattr(Figure, "savefig", record)
    monkeypatch.setattr(drawing.atomic, "write_bytes", write)
    return saved
