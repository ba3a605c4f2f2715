from __future__ import annotations

import io
import sys

from axonad import AxonAD
from tests.conftest import SMALL, waves


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fit_with(monkeypatch, stream, **changes):
    monkeypatch.setattr(sys, "stderr", stream)
    AxonAD(**{**SMALL, "verbose": True, **changes}).fit(waves(100))
    return stream.getvalue()


def test_a_terminal_shows_a_bar(monkeypatch):
    shown = fit_with(monkeypatch, Terminal())
    assert "fitting" in shown
    assert "100%" in shown


def test_a_pipe_stays_silent(monkeypatch):
    assert fit_with(monkeypatch, io.StringIO()) == ""


def test_verbose_false_silences_a_terminal(monkeypatch):
    assert fit_with(monkeypatch, Terminal(), verbose=False) == ""
