"""What has changed, once a second, worked out once for all open pages.

A page is a *client* of a topic: the fleet, or the newest rows of one vehicle. Messages are made
once per topic and second, as the bytes that go out. A client that does not keep up loses what
waits for it and is told to load its page again; the others do not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import orjson

from axonad.errors import AxonADError
from axonad.live.record import EventRecord

EVERY = 1.0  # seconds between two looks at the engine
EASE = 4.0  # a look that took long is followed by a pause this many times as long
QUIET = 5.0  # seconds without news after which a sign of life is sent
MOST_WAITING = 5  # messages that may wait for a client
MOST_CLIENTS = 500
RETRY = b"retry: 1000\n\n"


class Topic(Protocol):
    """Something that changes. Both methods run in a worker thread."""

    def whole(self) -> dict[str, Any]:
        """Return everything, for a client that has just come."""

    def news(self) -> dict[str, Any] | None:
        """Return what has changed since the last call; None if nothing has."""


class Busy(AxonADError):  # noqa: N818 (an answer, not a fault)
    """Too many pages are open."""


class Client:
    """An open page: the messages that wait for it; it is closed once it is no longer allowed."""

    def __init__(self, is_allowed: Callable[[], bool] = lambda: True) -> None:
        self._is_allowed = is_allowed
        self._waiting: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._is_closed = False

    def put(self, message: bytes) -> None:
        """Add a message; too many waiting are replaced by the advice to start over."""
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
            message = to_message("reset", {})
        self._waiting.append(message)
        self._arrived.set()

    def close(self) -> None:
        """End the stream after what waits."""
        self._is_closed = True
        self._arrived.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield messages as they come, and a sign of life in quiet times."""
        yield RETRY
        while self._is_allowed():
            if self._waiting:
                yield self._waiting.popleft()
                continue
            if self._is_closed:
                return
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), QUIET)
            if not self._waiting and not self._is_closed:
                yield to_message("tick", {})


class Feed:
    """Looks at topics once a second while somebody watches them."""

    def __init__(self, *, every: float = EVERY) -> None:
        self.every = every
        self._topics: dict[Any, tuple[Topic, set[Client]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    @property
    def clients(self) -> int:
        """Number of open pages."""
        return sum(len(clients) for _, clients in list(self._topics.values()))

    async def start(self) -> None:
        """Begin to look."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End all streams and look no longer."""
        self.close()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def close(self) -> None:
        """End all streams, so that the server can stop; called from the loop's thread."""
        self._is_closed = True
        for _, clients in self._topics.values():
            for client in clients:
                client.close()

    async def subscribe(
        self,
        key: Any,
        make: Callable[[], Topic],
        *,
        is_allowed: Callable[[], bool] = lambda: True,
    ) -> AsyncIterator[bytes]:
        """Return the messages of a topic for a new client; ``make`` makes the topic if needed.

        They end once ``is_allowed`` says so, such as after the client's key was revoked.
        """
        if self._is_closed or self.clients >= MOST_CLIENTS:
            raise Busy("too many pages are open; close some and try again")
        topic, clients = self._topics.setdefault(key, (make(), set()))
        client = Client(is_allowed)
        clients.add(client)
        try:
            client.put(to_message("whole", await asyncio.to_thread(topic.whole)))
        except BaseException:
            self._leave(key, client)
            raise
        return self._messages(key, client)

    def tell_of(self, event: EventRecord) -> None:
        """Tell all pages that a person did something to an event; from any thread."""
        message = to_message("event", {"id": event.id, "vehicle": event.vehicle})
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell_all, message)

    def _tell_all(self, message: bytes) -> None:
        for _, clients in self._topics.values():
            for client in clients:
                client.put(message)

    async def _messages(self, key: Any, client: Client) -> AsyncIterator[bytes]:
        try:
            async for message in client.messages():
                yield message
        finally:
            self._leave(key, client)

    def _leave(self, key: Any, client: Client) -> None:
        found = self._topics.get(key)
        if found is not None:
            found[1].discard(client)
            if not found[1]:
                del self._topics[key]

    async def _run(self) -> None:
        while True:
            began = time.monotonic()
            for topic, clients in list(self._topics.values()):
                await self._look(topic, clients)
            took = time.monotonic() - began
            await asyncio.sleep(max(self.every - took, min(EASE * took, 10 * self.every), 0.01))

    async def _look(self, topic: Topic, clients: set[Client]) -> None:
        try:
            news = await asyncio.to_thread(topic.news)
        except AxonADError as error:  # such as a database that is gone: what was shown stays
            news = {"trouble": str(error)}
        if news is not None:
            message = to_message("news", news)
            for client in clients:
                client.put(message)


def to_message(event: str, data: dict[str, Any]) -> bytes:
    r"""Return a message as browsers read it: one line of JSON.

    >>> to_message("tick", {})
    b'event: tick\ndata: {}\n\n'
    """
    return b"event: %s\ndata: %s\n\n" % (event.encode(), orjson.dumps(data))
