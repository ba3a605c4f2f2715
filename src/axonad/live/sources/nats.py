"""Samples by NATS JetStream: acknowledged when stored, and read on from the stored position.

Messages are asked for in portions; while the engine is full none are asked for. A message without
a time of its own has the time at which the stream took it. A connection that is lost is made anew,
and messages that were lost with it are noticed by their numbers and asked for again.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from axonad.errors import ConfigError, InputError
from axonad.extras import need
from axonad.live.config import Nats
from axonad.live.engine.contract import Engine
from axonad.live.sample import Sample
from axonad.live.secrets import read_secret, split_url
from axonad.live.sources.backoff import Backoff
from axonad.live.sources.contract import SourceStatus
from axonad.live.sources.handover import Handover
from axonad.live.sources.messages import parse, parse_value
from axonad.live.sources.mqtt_client import make_tls
from axonad.live.sources.nats_stream import prepare
from axonad.live.sources.tally import Tally
from axonad.live.sources.topics import NATS, Topics

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

SCHEMES = {"nats": 4222, "tls": 4222}
EXPIRES = 5.0  # seconds for which a request waits for messages
ANSWER = 10.0  # seconds after which a request without any answer means a lost connection
FINISH = 5.0  # seconds to wait for the last receipt
IDLE = 1.0

Token = str
"""The subject that acknowledges a message."""


class _LostError(Exception):
    """Messages were lost on the way; they have to be asked for again."""


class NatsSource:
    """Reads the stream of ``[nats]``; connects again by itself."""

    name = "nats"

    def __init__(self, config: Nats) -> None:
        need("nats", what="sources of [nats] need")
        parts, port = split_url("url of [nats]", config.url, schemes=SCHEMES)
        if config.tls_ca and parts.scheme != "tls":
            raise ConfigError("tls_ca of [nats] needs a URL with tls://")
        for key, value in (("stream", config.stream), ("durable", config.durable)):
            if not value or any(char in ".*>/\\" or not char.isprintable() for char in value):
                raise ConfigError(f"{key} of [nats] must be a name without . * > /, got {value!r}")
        if not config.fetch:
            raise ConfigError("fetch of [nats] must be at least 1, got 0")
        self._config = config
        self._address = f"{parts.hostname}:{port}"
        self._options: dict[str, Any] = {"servers": [f"{parts.scheme}://{self._address}"]}
        if parts.scheme == "tls":
            self._options["tls"] = make_tls("[nats]", config.tls_ca)
        password = read_secret(
            "password of [nats]", file=config.password_file, env=config.password_env
        )
        if password and not config.username:
            raise ConfigError("password of [nats] needs a username")
        if config.username:
            self._options |= {"user": config.username, "password": password}
        self._topics = Topics(config.subjects, NATS)
        self._place = f"nats:{config.stream}"
        self._tally = Tally(self.name)
        self._backoff = Backoff()
        self._handover: Handover[Token] | None = None
        self._taken: int | None = None  # number of the last message handed over
        self._sent = 0  # messages of this consumer so far, by its own count
        self._asked = 0  # messages of the present request that may still come
        self._heard = 0.0  # when the present request was made, or last answered
        self._arrived: deque[Msg] = deque()
        self._thread: Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()
        self._is_stopping = False

    def start(self, engine: Engine) -> None:
        """Begin to read in a thread of its own, from the position that the engine stored."""
        self._handover = Handover(engine, self._place, wake=self._wake)
        self._taken = engine.position(self._place)
        self._thread = Thread(
            target=asyncio.run, args=(self._run(self._handover),), name="axonad-nats", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop reading, acknowledge what is stored within a few seconds, disconnect."""
        self._is_stopping = True
        self._wake()
        if self._thread is not None:
            self._thread.join(3 * FINISH)

    def status(self) -> SourceStatus:
        """Return how the source is."""
        return self._tally.status(self._handover)

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # closed: nobody waits any more
                loop.call_soon_threadsafe(self._changed.set)

    async def _run(self, handover: Handover[Token]) -> None:
        self._loop = asyncio.get_running_loop()
        while not self._is_stopping:
            try:
                await self._session(handover)
            except _LostError:
                continue
            except Exception as error:  # whatever a server sends, the thread goes on
                text = str(error) or type(error).__name__
                self._tally.note_trouble(f"no connection to {self._address}: {text}")
            finally:
                self._tally.is_connected = False
            until = monotonic() + self._backoff.next()
            while not self._is_stopping and (left := until - monotonic()) > 0:
                handover.advance()
                await self._wait(min(left, handover.pause(left) or left))

    async def _session(self, handover: Handover[Token]) -> None:
        from nats.aio.client import Client

        client = Client()
        try:
            await client.connect(
                **self._options,
                allow_reconnect=False,
                connect_timeout=5,
                ping_interval=10,
                error_cb=self._on_error,
                closed_cb=self._on_closed,
            )
            js = client.jetstream()
            self._taken = await prepare(js, self._config, self._topics, self._taken)
            self._sent = self._asked = 0
            self._arrived.clear()
            inbox = client.new_inbox()
            await client.subscribe(inbox, cb=self._on_message)
            self._tally.note_connected(self._address)
            self._backoff.reset()
            while not self._is_stopping:
                if not client.is_connected:
                    raise ConnectionError("it was closed")
                self._hand_over(handover)
                await self._acknowledge(client, handover.advance())
                await self._ask(client, inbox, handover)
                if not self._arrived:
                    await self._wait(handover.pause(IDLE))
            await self._finish(client, handover)
        finally:
            with suppress(Exception):
                await client.close()

    async def _ask(self, client: Client, inbox: str, handover: Handover[Token]) -> None:
        """Ask for messages if there is room and no request is open."""
        if self._asked > 0:
            if monotonic() - self._heard > ANSWER:
                raise ConnectionError("the server does not answer")
            return
        if not handover.has_room:
            return
        config = self._config
        request = {"batch": config.fetch, "expires": int(EXPIRES * 1e9)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{config.stream}.{config.durable}"
        self._asked, self._heard = config.fetch, monotonic()
        await client.publish(subject, json.dumps(request).encode(), reply=inbox)

    async def _on_message(self, message: Msg) -> None:
        self._arrived.append(message)
        self._changed.set()

    async def _on_error(self, error: Exception) -> None:
        self._tally.note_trouble(f"{self._address}: {error}")

    async def _on_closed(self) -> None:
        self._changed.set()

    def _hand_over(self, handover: Handover[Token]) -> None:
        while self._arrived:
            message = self._arrived.popleft()
            self._heard = monotonic()
            if not message.reply:  # the request ended: no messages, or not all of them
                self._asked = 0
                status = (message.headers or {}).get("Status", "")
                if status not in ("404", "408"):
                    text = (message.headers or {}).get("Description", "")
                    raise ConnectionError(f"JetStream answered {status} {text}".strip())
                continue
            self._asked -= 1
            place = message.metadata
            self._sent += 1
            if place.sequence.consumer != self._sent:
                raise _LostError
            number = place.sequence.stream
            if number <= (self._taken or 0):
                # Sent again, as the acknowledgement took long. The first one is stored, or lies
                # before this one in the queue, so that both are acknowledged when it is stored.
                handover.put((), message.reply)
                continue
            self._taken = number
            self._tally.messages += 1
            samples: list[Sample] = []
            try:
                arrival = round(place.timestamp.timestamp() * 1e6)
                samples = self._parse(message.subject, message.data, arrival)
            except InputError as error:
                self._tally.note_bad(message.subject, error)
            handover.put(samples, message.reply, number)

    def _parse(self, subject: str, data: bytes, arrival: int) -> list[Sample]:
        said = self._topics.match(subject)
        if said is None:  # of other subjects of the stream
            return []
        if said.channel:
            return parse_value(data, vehicle=said.vehicle, channel=said.channel, arrival=arrival)
        return parse(data, vehicle=said.vehicle, arrival=arrival)

    async def _acknowledge(self, client: Client, tokens: list[Token]) -> None:
        for reply in tokens:
            await client.publish(reply, b"+ACK")

    async def _finish(self, client: Client, handover: Handover[Token]) -> None:
        until = monotonic() + FINISH
        while handover.is_waiting_for_receipt and monotonic() < until:
            await self._wait(0.05)
            await self._acknowledge(client, handover.take_stored())
        await client.flush(timeout=2)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)
        self._changed.clear()
