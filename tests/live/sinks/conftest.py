"""An HTTP server that collects what is posted, and a vehicle whose yaw rate is off for a while."""

import copy
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from axonad.live.config import Input, LiveConfig
from axonad.live.engine.local import LocalEngine
from axonad.live.sample import Delivery
from axonad.live.sinks.sentences import Sentences
from axonad.live.store.memory import MemoryStore
from axonad.live.web.explaining import Explainer, sentence_of
from tests.live.sources.fake_engine import wait_for


class Receiver(ThreadingHTTPServer):
    """Collects what is posted; answers with the status codes in ``answers`` first."""

    def __init__(self):
        self.posts, self.answers = [], []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = self.server.answers.pop(0) if self.server.answers else 200
        if code == 200:
            self.server.posts.append((self.path, self.headers, body))
        self.send_response(code)
        if code == 302:
            self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def receiver():
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Drive:
    """An engine that scores a vehicle of the drives, part by part, and what makes sentences."""

    def __init__(self, detector, samples):
        self.store, self._samples, self._stored = MemoryStore(), samples, []
        config = LiveConfig(input=Input(commit_every="0s", max_ahead="1d"))
        self.engine = LocalEngine(detector, self.store, config)
        self.explain = Explainer(copy.deepcopy(detector))
        make = partial(sentence_of, self.engine, self.explain)
        self.sentences = Sentences(self.store, make)

    def send(self, rows):
        """Score rows, and wait until that is stored."""
        part, self._samples = self._samples[:rows], self._samples[rows:]
        before = len(self._stored)
        self.engine.submit(Delivery(part, "test", self._stored.append))
        wait_for(lambda: len(self._stored) > before, "the receipt")


@pytest.fixture
def drive(live_detector, drives):
    """A drive whose event fires within the first 160 rows and is over after all 400."""
    made = Drive(live_detector, list(drives.samples("b")))
    made.engine.start()
    yield made
    made.engine.stop()
