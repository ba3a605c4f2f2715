"""What is shown while a benchmark runs."""

from __future__ import annotations

import pytest
from rich.console import Console

from axonad.bench.row import METRIC_NAMES
from axonad.cli.bench import progress_display
from axonad.cli.bench.progress_display import ProgressDisplay, follow
from tests.bench.jobs import make_job, make_row


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose last entry is the time."""
    times = [0.0]
    monkeypatch.setattr(progress_display.time, "monotonic", lambda: times[-1])
    return times


def test_a_line_says_where_the_run_stands(clock):
    display = ProgressDisplay(total=4)
    clock.append(60.0)
    row = make_row(metrics=dict.fromkeys(METRIC_NAMES, 0.5))
    display.count(row)
    assert display.line(row) == (
        "1/4  telemetry-1  AxonAD (causal), seed 1: VUS-PR 0.500  "
        "[0 failed, 3 remaining, about 3 min left]"
    )
    clock.append(120.0)
    failed = make_row(status="timeout", reason="took too long", metrics={})
    display.count(failed)
    assert "timeout: took too long  [1 failed, 2 remaining, about 2 min left]" in display.line(
        failed
    )


def test_a_terminal_shows_the_mean_of_every_detector(clock, capsys):
    old = make_row(label="PCA", metrics=dict.fromkeys(METRIC_NAMES, 0.25))
    display = ProgressDisplay(total=3, before=[old])
    for value in (0.5, 0.7):
        display.count(make_row(metrics=dict.fromkeys(METRIC_NAMES, value)))
    display.count(make_row(label="LOF", status="failed", reason="x", metrics={}))
    Console(width=100).print(display.view())
    out, err = capsys.readouterr()
    assert "1 jobs were done before; 3 to do" in err
    lines = [line.split() for line in out.splitlines()]
    assert lines[1] == ["AxonAD", "(causal)", "2", "0.600"]
    assert lines[2] == ["PCA", "(causal)", "1", "0.250"]
    assert lines[3] == ["LOF", "(causal)", "0", "1", "–"]
    assert "3 of 3 done, 1 failed, 0 remaining" in out


def test_an_interrupt_says_how_to_resume(capsys):
    def rows():
        yield make_row()
        raise KeyboardInterrupt

    jobs = [make_job()]
    with pytest.raises(KeyboardInterrupt):
        follow(rows(), jobs=jobs, pending=jobs, known=[])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("1/1  telemetry-1")
    assert err.endswith("\nfinished jobs are saved; run the same command again to resume\n")
