"""Samples by MQTT with QoS 1: a message is acknowledged when its samples are stored.

The broker keeps a session: what it has no acknowledgement for it sends again after a reconnect, in
order, and it queues messages while the server is away. One thread does everything. While the
engine is full it does not read, so the broker holds the messages back; it still answers the
keepalive. Retained messages are left out, since they are old.
"""

from __future__ import annotations

import selectors
import socket
from contextlib import suppress
from threading import Thread
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any

from axonad.errors import InputError
from axonad.live.config import Mqtt
from axonad.live.engine.contract import Engine
from axonad.live.sample import Sample
from axonad.live.sources.backoff import Backoff
from axonad.live.sources.contract import SourceStatus
from axonad.live.sources.handover import Handover
from axonad.live.sources.messages import parse, parse_value
from axonad.live.sources.mqtt_client import Connection, read_connection
from axonad.live.sources.tally import LOG, Tally
from axonad.live.sources.topics import MQTT, Topics

if TYPE_CHECKING:
    from paho.mqtt.client import Client, MQTTMessage

QOS = 1
READ = 1_000  # messages read before they are handed over
IDLE = 1.0  # seconds between two looks at the keepalive
FINISH = 5.0  # seconds to wait for the last receipt
HANG_UP = 2.0  # seconds to wait for the broker's end of the connection

Token = tuple[int, int] | None
"""The connection and the id of a message to acknowledge; None with QoS 0."""


class MqttSource:
    """Reads the topics of ``[mqtt]``; connects again by itself."""

    name = "mqtt"

    def __init__(self, config: Mqtt) -> None:
        self._connection: Connection = read_connection(config)
        self._topics = Topics(config.topics, MQTT)
        self._tally = Tally(self.name)
        self._backoff = Backoff()
        self._handover: Handover[Token] | None = None
        self._thread: Thread | None = None
        self._is_stopping = False
        self._number = 0  # of the connection
        self._read: list[MQTTMessage] = []
        self._wake_reader: socket.socket
        self._wake_writer: socket.socket

    def start(self, engine: Engine) -> None:
        """Begin to read in a thread of its own."""
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._handover = Handover(engine, self.name, wake=self._wake)
        self._thread = Thread(
            target=self._run, args=(self._handover,), name="axonad-mqtt", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop reading, acknowledge what is stored within a few seconds, disconnect."""
        self._is_stopping = True
        if self._thread is not None:
            self._wake()
            self._thread.join(3 * FINISH)

    def status(self) -> SourceStatus:
        """Return how the source is."""
        return self._tally.status(self._handover)

    def _wake(self) -> None:
        with suppress(OSError):  # full: it will wake anyway
            self._wake_writer.send(b"\0")

    def _run(self, handover: Handover[Token]) -> None:
        while not self._is_stopping:
            if not handover.has_room:  # what the broker says could not be read
                self._rest(handover, IDLE)
                continue
            client = self._connection.make_client()
            try:
                self._session(client, handover)
            except Exception as error:  # whatever a broker sends, the thread goes on
                text = str(error) or type(error).__name__
                self._tally.note_trouble(f"no connection to {self._connection.address}: {text}")
            finally:
                self._tally.is_connected = False
                _close(client)
            if not self._is_stopping:
                self._rest(handover, self._backoff.next())
        self._wake_reader.close()
        self._wake_writer.close()

    def _session(self, client: Client, handover: Handover[Token]) -> None:
        """Read until the connection is lost or the source is stopped."""
        self._number += 1
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        self._connection.connect(client)
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_reader, selectors.EVENT_READ)
            sock: Any = client.socket()
            wanted = 0
            while not self._is_stopping and client.socket() is not None:
                events = selectors.EVENT_WRITE * client.want_write()
                events |= selectors.EVENT_READ * handover.has_room
                if events != wanted:
                    _watch(selector, sock, wanted, events)
                    wanted = events
                is_buffered = handover.has_room and _has_buffered(sock)
                for _ in selector.select(0 if is_buffered else handover.pause(IDLE)):
                    self._drain_wakes()
                self._exchange(client, handover)
        self._finish(client, handover)

    def _exchange(self, client: Client, handover: Handover[Token]) -> None:
        """Read what is there, hand it over, acknowledge what is stored, keep the link alive."""
        if handover.has_room:
            for _ in range(READ):
                before = len(self._read)
                client.loop_read()
                if len(self._read) == before:
                    break
        self._hand_over(handover)
        self._acknowledge(client, handover.advance())
        if client.want_write():
            client.loop_write()
        client.loop_misc()

    def _hand_over(self, handover: Handover[Token]) -> None:
        messages, self._read = self._read, []
        for message in messages:
            self._tally.messages += 1
            token = (self._number, message.mid) if message.qos else None
            samples: list[Sample] = []
            where = "a topic that is not text"
            try:
                where = message.topic
                if not message.retain:
                    samples = self._parse(where, bytes(message.payload), round(message.timestamp))
            except (InputError, UnicodeDecodeError) as error:
                self._tally.note_bad(where, error)
            handover.put(samples, token)

    def _parse(self, topic: str, data: bytes, arrival: int) -> list[Sample]:
        said = self._topics.match(topic)
        if said is None:
            raise InputError("the topic matches no pattern of [mqtt]")
        if said.channel:
            return parse_value(data, vehicle=said.vehicle, channel=said.channel, arrival=arrival)
        return parse(data, vehicle=said.vehicle, arrival=arrival)

    def _acknowledge(self, client: Client, tokens: list[Token]) -> None:
        for token in tokens:
            if token is not None and token[0] == self._number:  # others are sent again anyway
                client.ack(token[1], QOS)

    def _finish(self, client: Client, handover: Handover[Token]) -> None:
        """Wait a little for the last receipt, so that its messages are not sent again."""
        until = monotonic() + FINISH
        while self._is_stopping and handover.is_waiting_for_receipt and monotonic() < until:
            self._rest(handover, 0.05)
            self._acknowledge(client, handover.take_stored())
        sock: Any = client.socket()
        if self._is_stopping and sock is not None:
            _hang_up(sock)

    def _rest(self, handover: Handover[Token], seconds: float) -> None:
        """Wait; without a connection receipts are taken all the same."""
        until = monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while (left := until - monotonic()) > 0:
                if not self._is_stopping:
                    handover.advance()
                if selector.select(min(left, handover.pause(left) or left)):
                    self._drain_wakes()
                    if self._is_stopping:
                        return

    def _drain_wakes(self) -> None:
        with suppress(OSError):
            while self._wake_reader.recv(4096):
                pass

    def _on_connect(self, client: Client, _: Any, flags: Any, reason: Any, __: Any) -> None:
        address = self._connection.address
        if reason.is_failure:
            self._tally.note_trouble(f"{address} refused the connection: {reason}")
            return
        if flags.session_present and self._handover is not None:
            self._handover.forget(lambda token: token is not None)  # the broker sends them again
        elif self._number > 1:
            LOG.warning("mqtt: %s forgot the session; messages sent meanwhile may be lost", address)
        client.subscribe([(name, QOS) for name in self._topics.filters])
        self._tally.note_connected(address)
        self._backoff.reset()

    def _on_subscribe(self, _: Any, __: Any, ___: int, reasons: list[Any], ____: Any) -> None:
        refused = [
            name
            for name, reason in zip(self._topics.filters, reasons, strict=False)
            if reason.is_failure
        ]
        if refused:
            self._tally.note_trouble(f"the broker refused to send {', '.join(refused)}")

    def _on_disconnect(self, _: Any, __: Any, ___: Any, reason: Any, ____: Any) -> None:
        if not self._is_stopping and self._tally.is_connected:
            address = self._connection.address
            self._tally.note_trouble(f"lost the connection to {address}: {reason}")
        self._tally.is_connected = False

    def _on_message(self, _: Any, __: Any, message: MQTTMessage) -> None:
        message.timestamp = time_ns() // 1_000
        self._read.append(message)


def _watch(selector: selectors.BaseSelector, sock: Any, before: int, events: int) -> None:
    """Change what is waited for; a selector takes no socket that nothing is wanted of."""
    if not before:
        selector.register(sock, events)
    elif not events:
        selector.unregister(sock)
    else:
        selector.modify(sock, events)


def _hang_up(sock: Any) -> None:
    """End our side and read until the broker ended its own.

    Closing at once, with messages still arriving, would reset the connection, and the broker would
    not read the last acknowledgements.
    """
    with suppress(OSError, ValueError):
        sock.settimeout(HANG_UP)
        sock.shutdown(socket.SHUT_WR)
        until = monotonic() + HANG_UP
        while sock.recv(65_536) and monotonic() < until:
            pass


def _close(client: Client) -> None:
    """Disconnect, and close the socket even if the broker cannot be told."""
    with suppress(Exception):
        client.disconnect()
    sock: Any = client.socket()
    if sock is not None:
        with suppress(OSError):
            sock.close()


def _has_buffered(sock: Any) -> bool:
    """Return whether TLS has bytes that the operating system no longer shows as readable."""
    pending = getattr(sock, "pending", None)
    return pending is not None and pending() > 0
