"""Run the web server until it is told to stop, then end everything in order.

On SIGTERM or Ctrl-C the server takes no more connections and lets requests finish, so that samples
under way are stored; then the sources end, then the engine.
"""

from __future__ import annotations

import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import uvicorn
from fastapi import FastAPI

from axonad.errors import ConfigError
from axonad.live.config import Server
from axonad.live.engine.contract import Engine
from axonad.live.web.feed import Feed

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 10  # seconds for requests under way
MOST_HEAD = 32_768  # bytes of the head of a request
MOST_OPEN = 2_000  # connections
WAITING = 512  # connections that may wait to be accepted


class Source(Protocol):
    """Something that brings samples."""

    def start(self) -> None:
        """Begin to bring samples."""

    def stop(self) -> None:
        """Bring no more."""


def serve(
    app: FastAPI,
    server: Server,
    *,
    engine: Engine,
    sources: Sequence[Source] = (),
    announce: Callable[[str], None],
) -> None:
    """Serve until a signal; ``announce`` is given the address once it can be opened."""
    listening = bind(server)
    try:
        running = Running(app, server)
        with running.handling_signals():
            engine.start()
            begun: list[Source] = []
            try:
                for source in sources:
                    source.start()
                    begun.append(source)
                announce(address_of(server, listening))
                running.run(sockets=[listening])
            finally:
                for source in reversed(begun):
                    source.stop()
                engine.stop()
    finally:
        listening.close()


def bind(server: Server) -> socket.socket:
    """Return a socket that listens at the configured address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((server.host, server.port))
        listening.listen(WAITING)
    except OSError as error:
        listening.close()
        where = f"port {server.port} of {server.host}"
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"{where} is in use; stop what uses it, or set another port in [server]"
            ) from None
        if error.errno == errno.EACCES:
            raise ConfigError(f"{where} may not be used; ports below 1024 need rights") from None
        raise ConfigError(f"cannot listen on {where}: {error.strerror or error}") from None
    return listening


def address_of(server: Server, listening: socket.socket) -> str:
    """Return the address to open in a browser."""
    port = listening.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.host, server.host)  # noqa: S104
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if server.tls_cert else 'http'}://{name}:{port}/"


def _tls(server: Server) -> dict[str, Any]:
    if bool(server.tls_cert) != bool(server.tls_key):
        raise ConfigError("tls_cert and tls_key of [server] go together; one of them is missing")
    if not server.tls_cert:
        return {}
    for path in (server.tls_cert, server.tls_key):
        if not Path(path).is_file():
            raise ConfigError(f"there is no file {path!r}, which [server] names for TLS")
    return {"ssl_certfile": server.tls_cert, "ssl_keyfile": server.tls_key}


class Running(uvicorn.Server):
    """A server that ends its open streams when it is told to stop, and keeps signals to itself.

    It logs errors only: neither addresses, which may hold names, nor headers, which hold keys.
    """

    def __init__(self, app: FastAPI, server: Server) -> None:
        logging.getLogger("uvicorn").setLevel(logging.ERROR)
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                h11_max_incomplete_event_size=MOST_HEAD,
                limit_concurrency=MOST_OPEN,
                timeout_graceful_shutdown=GRACE,
                **_tls(server),
            )
        )
        self._feed: Feed = app.state.site.feed

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals in a block: the first asks to stop, a second does not wait."""
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        wakeup = signal.set_wakeup_fd(-1)  # by which the command line would repeat them
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to :meth:`handling_signals`; uvicorn would raise them once more."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ask to stop."""
        super().handle_exit(sig, frame)
        self._captured_signals.clear()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; streams of open pages end first, or they would be waited for."""
        is_over = await super().on_tick(counter)
        if is_over:
            self._feed.close()
        return is_over
