"""A client of the application without a network: requests as a program or a browser sends them."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlencode

import httpx

from axonad.live.config import LiveConfig, Server
from axonad.live.web.app import create_app

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Client:
    """Sends requests to an application and keeps its cookies."""

    def __init__(self, app, *, base="http://localhost:8757"):
        self.app = app
        self._transport = httpx.ASGITransport(app)
        self._client = httpx.AsyncClient(transport=self._transport, base_url=base)
        self._runner = asyncio.Runner()

    def get(self, path, **options):
        return self._runner.run(self._client.get(path, **options))

    def post(self, path, **options):
        return self._runner.run(self._client.post(path, **options))

    def request(self, method, path, **options):
        return self._runner.run(self._client.request(method, path, **options))

    def raises(self, is_raised):
        """Say whether faults of the application are raised here, or answered only."""
        self._transport.raise_app_exceptions = is_raised

    def page(self, path):
        """Return a page as a browser asks for it."""
        return self.get(path, headers={"accept": "text/html"})

    def form(self, path, fields, **headers):
        """Send a form as a browser does."""
        return self.post(path, content=urlencode(fields), headers={**FORM, **headers})

    def token(self, path="/events"):
        """Return the token of the forms of a page."""
        return TOKEN.search(self.page(path).text)[1]

    def close(self):
        self._runner.run(self._client.aclose())
        self._runner.close()


OPEN: list[Client] = []
"""Clients to close after a test."""


def make_client(engine, *, keys=None, server=None, base="http://localhost:8757", **parts):
    """Return a client of an engine's application."""
    app = create_app(engine, LiveConfig(server=server or Server()), keys, **parts)
    OPEN.append(Client(app, base=base))
    return OPEN[-1]
