from __future__ import annotations

import io
import sys

import pytest

from axonad.progress import Progress, working


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
