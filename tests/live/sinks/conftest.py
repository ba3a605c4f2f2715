"""An HTTP server that collects what is posted, and fails when told to."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


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
