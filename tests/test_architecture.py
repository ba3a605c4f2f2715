"""docs/architecture.md against the code: paths exist, the walks are short and true."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import pytest

import axonad
from axonad.cli import main
from axonad.data.readers import process
from tests.conftest import ROOT, waves

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SRC = Path(axonad.__file__).parent
# Called on the way, without changing a number: named as left out on the page.
SUPPORT = {
    "alarmed.py", "atomic.py", "conditioning.py", "config.py", "data/context.py",
    "data/context_candidates.py", "errors.py", "explain/reference.py", "extras.py",
    "parameters.py", "progress.py",
    "modelfile/arrays.py", "modelfile/checks.py", "modelfile/document.py", "modelfile/folder.py",
    "modelfile/fingerprint.py", "modelfile/plain_file.py", "saving.py", "score/restoring.py",
    "registry.py", "explanation.py", "fit_report.py", "live_windows.py", "model/config.py",
    "score/blame.py", "stretches.py", "data/holding.py", "data/clock.py", "data/timing.py",
    "cli/missing_channels.py", "cli/missing_values.py", "cli/alarm_options.py",
    "cli/event_files.py", "cli/main.py", "cli/options.py", "cli/output_files.py",
    "cli/terminal.py", "cli/score_table.py", "cli/event_table.py",
    "cli/app.py", "cli/signals.py", "cli/verbosity.py", "report/times.py",
    "cli/several_files.py", "training_data.py", "data/recordings.py", "data/time_columns.py",
    "data/readers/__init__.py", "data/readers/request.py", "data/readers/reading.py",
    "data/readers/process.py", "data/readers/limits.py", "data/readers/source.py",
    "data/readers/records.py", "data/readers/dialect.py", "data/readers/columns.py",
    "data/readers/table.py", "data/readers/asked.py", "data/units.py", "cli/reading.py",
    "cli/score_jobs.py", "stream/chunks.py",
    "alarms/event.py", "alarms/policy.py", "alarms/segments.py",
    "fast/cpu/buffers.py", "fast/cpu/folding.py", "fast/cpu/predictor.py", "model/embedding.py",
}  # fmt: skip


def walk(number: int) -> list[str]:
    """The file of each numbered line of a walk."""
    section = PAGE.split(f"## Walk {number}:")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. `([a-z_0-9/]+\.py)`", section, flags=re.MULTILINE)


def files_called(action) -> set[str]:
    """Files of the package whose functions run during an action, imports excluded."""
    found: set[str] = set()

    def record(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_flags & 2 and code.co_filename.startswith(f"{SRC}/"):
            found.add(code.co_filename.removeprefix(f"{SRC}/"))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


@pytest.mark.parametrize(("number", "most"), [(1, 27), (2, 10), (3, 20)])
def test_walks_are_short_and_their_files_exist(number, most):
    files = walk(number)
    assert 8 <= len(files) <= most
    assert len(set(files)) == len(files)
    assert all((SRC / file).is_file() for file in files)


def test_every_path_named_on_the_page_exists():
    for path in set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_0-9]+\.py)?)`", PAGE)):
        assert (SRC / path).exists() or (ROOT / path).exists(), path


def check_walk(number: int, called: set[str]) -> None:
    assert set(walk(number)) <= called
    others = {file for file in called - set(walk(number)) if not file.startswith("torch_runtime/")}
    assert others <= SUPPORT


def test_walk_1_is_the_way_of_a_csv_file(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "borrow", lambda: None)  # parse in this process, to see it
    header = "a,b,c\n"
    rows = "\n".join(",".join(map(repr, row)) for row in waves(120).tolist())
    (tmp_path / "normal.csv").write_text(header + rows + "\n")
    sizes = ("epochs=1", "window=12", "d_model=8", "heads=2", "tail=3", "dilations=[1,2]")

    def run(*words):
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        assert not end.value.code

    def fit_and_score(name):
        options = [word for size in sizes for word in ("--set", size)]
        normal, model = tmp_path / "normal.csv", tmp_path / name
        run("fit", normal, "--out", model, "--detector", "AxonAD", *options)
        run("score", model, normal, "--out", tmp_path / f"{name}.csv")

    fit_and_score("first")  # what modules call while they are imported is not part of the way
    check_walk(1, files_called(lambda: fit_and_score("second")))


def test_walk_2_is_the_way_of_a_live_row(fitted):
    session = axonad.Session(fitted)
    X = waves(60, seed=2)
    for row in X[:40]:
        session.push(row.tolist())
    check_walk(2, files_called(lambda: session.push(X[40].tolist())))
