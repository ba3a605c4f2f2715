"""The web server of ``axonad live`` in a thread, with an engine of invented vehicles."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

from axonad.live.config import LiveConfig, Server
from axonad.live.web.app import create_app
from axonad.live.web.feed import Feed
from axonad.live.web.serve import Running, address_of, bind
from tests.live.web.fake_engine import band


class LiveServer:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, engine, *, every=0.1, **parts):
        self.engine, self.every = engine, every
        self.parts = {"expect": band, **parts}
        self.config = Server(port=0)
        self._running = None

    def start(self):
        listening = bind(self.config)
        self.config = replace(self.config, port=listening.getsockname()[1])
        self.address = address_of(self.config, listening)
        config, feed = LiveConfig(server=self.config), Feed(every=self.every)
        self._running = Running(
            create_app(self.engine, config, None, feed=feed, **self.parts), self.config
        )
        self._thread = Thread(target=self._running.run, kwargs={"sockets": [listening]})
        self._thread.start()

    def stop(self):
        if self._running is not None:
            self._running.should_exit = True
            self._thread.join()
            self._running = None
