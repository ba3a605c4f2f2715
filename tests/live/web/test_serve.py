"""The server as a process: it says where it is, ends in order, and refuses a port in use."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from axonad.errors import ConfigError
from axonad.live.config import Server
from axonad.live.web.serve import Running, bind
from tests.live.web.client import make_client
from tests.live.web.fake_engine import FakeEngine

PROGRAM = """
from axonad.cli.signals import Signals
from axonad.live.config import LiveConfig, Server
from axonad.live.web.app import create_app
from axonad.live.web.serve import serve
from tests.live.web.fake_engine import FakeEngine

class Source:
    def start(self): print("source starts", flush=True)
    def stop(self): print("source stops", engine.is_running, flush=True)

def say(text): print(text, flush=True)

engine, server = FakeEngine(["car"]), Server(port=0)
with Signals():
    app = create_app(engine, LiveConfig(server=server), None)
    serve(app, server, engine=engine, sources=[Source()], announce=say)
print("engine runs", engine.is_running, flush=True)
"""


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_signal_ends_streams_sources_and_engine_in_order(number):
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "source starts\n"
        address = child.stdout.readline().strip()
        stream = urllib.request.urlopen(f"{address}live", timeout=60)  # noqa: S310
        assert stream.readline() == b"retry: 1000\n"
        os.kill(child.pid, number)
        assert b"event: whole" in stream.read(), "the stream ends, it is not cut off"
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert out == "source stops True\nengine runs False\n"
    assert (child.returncode, err) == (0, "")


def test_a_port_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 is in use; stop"):
            bind(Server(port=port))


@pytest.mark.parametrize(
    ("server", "words"),
    [(Server(tls_cert="a"), "go together"), (Server(tls_cert="no", tls_key="no"), "no file 'no'")],
)
def test_files_of_tls_are_checked(server, words):
    client = make_client(FakeEngine())
    with pytest.raises(ConfigError, match=words):
        Running(client.app, server)
