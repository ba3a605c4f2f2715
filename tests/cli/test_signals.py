"""Ctrl-C and SIGTERM: the stack unwinds, whatever the main thread does and libraries swallow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from axonad.cli import signals as module
from axonad.cli.signals import Signals


def send(number, after=0.0):
    threading.Timer(after, os.kill, (os.getpid(), number)).start()


@pytest.mark.parametrize(
    ("number", "error", "code"),
    [(signal.SIGINT, KeyboardInterrupt, 130), (signal.SIGTERM, SystemExit, 143)],
)
def test_a_signal_unwinds_the_stack_of_a_waiting_thread(number, error, code):
    before = signal.getsignal(number), signal.getsignal(signal.SIGINT)
    cleaned = []
    with Signals() as signals, pytest.raises(error) as caught:
        try:
            send(number)
            threading.Event().wait(20)
        finally:
            cleaned.append(True)
    assert cleaned
    assert (signals.received, signals.exit_code) == ([number], code)
    assert getattr(caught.value, "code", code) == code
    assert (signal.getsignal(number), signal.getsignal(signal.SIGINT)) == before


def test_a_swallowed_signal_is_repeated_but_not_while_cleaning_up(monkeypatch):
    monkeypatch.setattr(module, "SOON", 0.01)
    monkeypatch.setattr(module, "LATER", 0.01)
    wait = threading.Event().wait
    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        try:
            send(signal.SIGINT)
            wait(20)
        except KeyboardInterrupt:
            pass  # as some libraries do
        try:
            wait(20)
        finally:
            assert not wait(0.2), "not interrupted"
    assert len(signals.received) == 2


def test_an_ignored_signal_stays_ignored_and_other_threads_handle_none():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Signals() as signals:
            os.kill(os.getpid(), signal.SIGINT)
            assert signal.getsignal(signal.SIGTERM) == signals._handle
    finally:
        signal.signal(signal.SIGINT, before)
    assert signals.received == []
    handlers = []

    def elsewhere():
        with Signals():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]


def test_nothing_heavy_is_imported_before_a_handler_stands():
    check = (
        "import sys, axonad.cli; "
        "print(sorted({name.split('.')[0] for name in sys.modules} "
        "& {'numpy', 'polars', 'torch', 'typer', 'rich', 'click'}))"
    )
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {check}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert found.stdout.strip() == "[]"
