from __future__ import annotations

import io
import sys

import pytest

from axonad import progress as progress_module
from axonad.progress import Progress, Stopwatch, hidden, lines, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_bar(show: bool) -> None:
    with Progress("fitting", 4, show=show) as progress:
        progress.advance(2)
        progress.describe("loss 0.5")
        progress.finish()


def show_spinner(show: bool) -> None:
    with working("fitting", show=show):
        pass


def test_a_terminal_shows_text_percentage_and_note(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    show_bar(True)
    shown = sys.stderr.getvalue()
    assert "fitting" in shown
    assert "100%" in shown
    assert "loss 0.5" in shown


def test_a_terminal_shows_a_spinner(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    show_spinner(True)
    assert "fitting" in sys.stderr.getvalue()


@pytest.mark.parametrize("display", [show_bar, show_spinner])
@pytest.mark.parametrize(("stream", "show"), [(io.StringIO, True), (Terminal, False)])
def test_pipes_and_hidden_bars_stay_silent(monkeypatch, display, stream, show):
    monkeypatch.setattr(sys, "stderr", stream())
    display(show)
    assert sys.stderr.getvalue() == ""


def test_lines_say_what_a_pipe_would_not_show(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(progress_module, "EVERY", 0.0)
    with lines():
        show_spinner(True)
        with Progress("training", 4) as bar:
            bar.advance(2)
        show_bar(False)
        with hidden():
            show_bar(True)
    show_bar(True)
    assert sys.stderr.getvalue() == "fitting\ntraining\ntraining: 50 %\n"


def test_lines_are_rare(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with lines(), Progress("training", 1000) as bar:
        for _ in range(1000):
            bar.advance()
    assert sys.stderr.getvalue() == "training\n"


def test_only_the_outer_one_is_shown_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with working("outer"):
        with Progress("inner", 2) as bar:
            bar.advance()
        show_spinner(True)
    assert "outer" in sys.stderr.getvalue()
    assert "inner" not in sys.stderr.getvalue()
    show_bar(True)
    assert "100%" in sys.stderr.getvalue(), "after the outer one bars are shown again"


def test_a_stopwatch_divides_the_time(monkeypatch):
    now = iter([0.0, 1.0, 3.0, 6.0, 10.0, 11.0])
    monkeypatch.setattr(progress_module, "perf_counter", lambda: next(now))
    watch = Stopwatch()
    with watch.whole("rest"), watch.part("a"):  # from 0 to 6, and from 1 to 3
        pass
    with watch.part("a"):  # from 10 to 11
        pass
    assert watch.seconds == {"a": 3.0, "rest": 4.0}
