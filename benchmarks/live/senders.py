"""Clients that send a fleet's rows and send again what was not acknowledged."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable
from urllib.parse import quote

from fleet import STEP, Fleet
from servers import Server, wait_for

ROWS = 10  # of a message
SECONDS = 10.0  # to wait for an acknowledgement


class Sender:
    """Sends the fleet block by block; ``sent`` and ``again`` count messages."""

    def __init__(self, fleet: Fleet, *, port: int) -> None:
        self.fleet, self.port = fleet, port
        self.sent = self.again = 0
        self.place = 0  # first row that is not acknowledged

    def send(self, until: int) -> None:
        """Send the rows before ``until`` of all vehicles; return once they are acknowledged."""
        while self.place < until:
            last = min(self.place + ROWS, until)
            messages = [(v, self.fleet.message(v, self.place, last)) for v in self.fleet.rows]
            while messages:
                done = self.deliver(messages)
                self.sent += len(messages)
                if done is None:  # what was acknowledged may be lost: begin further back
                    break
                messages = [message for message in messages if message[0] not in done]
                self.again += len(messages)
            else:
                self.place = last

    def deliver(self, messages: list[tuple[str, bytes]]) -> set[str] | None:
        """Send a message of each vehicle; return the vehicles whose message is acknowledged."""
        raise NotImplementedError

    def finish(self) -> None:
        """Send again what got lost, until everything is stored."""

    def close(self) -> None:
        """Disconnect."""


class HttpSender(Sender):
    """One request for all vehicles; acknowledged is what is answered."""

    def deliver(self, messages: list[tuple[str, bytes]]) -> set[str]:
        body = b"\n".join(data for _, data in messages)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            headers = {"Content-Type": "application/x-ndjson"}
            connection.request("POST", "/api/v1/samples", body, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status == 200:
                return {vehicle for vehicle, _ in messages}
            if answer.status not in (429, 503):
                raise RuntimeError(f"the server answered {answer.status}: {said[:200]!r}")
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
        return set()


class MqttSender(Sender):
    """One message with QoS 1 per vehicle.

    Mosquitto acknowledges a message before it writes it to its file. After the broker was killed
    the client therefore asks the server what it has, and goes on from there.
    """

    def __init__(self, fleet: Fleet, *, port: int, server: Server) -> None:
        super().__init__(fleet, port=port)
        self._server, self._client, self._ready = server, None, threading.Event()
        self._was_connected = False

    def deliver(self, messages: list[tuple[str, bytes]]) -> set[str] | None:
        if self._client is None and not self._connect():
            return None
        client, sent = self._client, []
        try:
            for vehicle, data in messages:
                sent.append((vehicle, client.publish(f"fleet/{vehicle}", data, qos=1)))
            until = time.monotonic() + SECONDS
            while time.monotonic() < until and client.is_connected():
                if all(info.is_published() for _, info in sent):
                    return {vehicle for vehicle, _ in messages}
                time.sleep(0.001)
        except (OSError, ValueError, RuntimeError):
            pass
        self.close()
        return None

    def _connect(self) -> bool:
        """Connect, and after a lost connection go back to what the server has stored."""
        import paho.mqtt.client as paho

        client = paho.Client(paho.CallbackAPIVersion.VERSION2, reconnect_on_failure=False)
        client.max_inflight_messages_set(1_000)
        try:
            client.connect("127.0.0.1", self.port)
            client.loop_start()
            wait_for(client.is_connected, "the broker", seconds=SECONDS)
        except (OSError, TimeoutError):
            client.loop_stop()
            time.sleep(0.05)
            return False
        self._client = client
        if self._was_connected:
            self.rewind()
            return False
        self._was_connected = True
        return True

    def stored(self) -> int:
        """Return the number of rows that the server has of every vehicle."""
        found = []
        for vehicle in self.fleet.rows:
            try:
                known = json.loads(self._server.get(f"/api/v1/vehicles/{quote(vehicle)}"))
            except OSError:
                return 0 if self.place == 0 else -1
            found.append(_rows(known["last_time"], self.fleet))
        return min(found)

    def rewind(self) -> None:
        while (place := self.stored()) < 0:
            time.sleep(0.1)
        if place < self.place:
            self.again += (self.place - place + ROWS - 1) // ROWS * len(self.fleet.rows)
            self.place = place

    def finish(self) -> None:
        until = self.fleet.length
        while True:
            known, since = -1, time.monotonic()
            while time.monotonic() - since < SECONDS:
                if (now := self.stored()) >= until:
                    return
                if now != known:
                    known, since = now, time.monotonic()
                time.sleep(0.05)
            self.rewind()
            self.send(until)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop_stop()


class NatsSender(Sender):
    """One message per vehicle; acknowledged is what JetStream has written."""

    def __init__(self, fleet: Fleet, *, port: int) -> None:
        super().__init__(fleet, port=port)
        self._loop = asyncio.new_event_loop()
        self._client = None
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def deliver(self, messages: list[tuple[str, bytes]]) -> set[str]:
        work = self._deliver(messages)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _deliver(self, messages: list[tuple[str, bytes]]) -> set[str]:
        import nats

        async def ignore(error: Exception) -> None:
            pass

        try:
            if self._client is None or not self._client.is_connected:
                self._client = await nats.connect(
                    f"nats://127.0.0.1:{self.port}", allow_reconnect=False, connect_timeout=2,
                    error_cb=ignore,
                )  # fmt: skip
            js = self._client.jetstream(timeout=3)
            names = [f"fleet.{vehicle}" for vehicle, _ in messages]
            answers = await asyncio.gather(
                *(js.publish(n, data) for n, (_, data) in zip(names, messages, strict=True)),
                return_exceptions=True,
            )
        except Exception:
            await asyncio.sleep(0.05)
            return set()
        pairs = zip(messages, answers, strict=True)
        return {v for (v, _), answer in pairs if not isinstance(answer, BaseException)}


def _rows(text: str, fleet: Fleet) -> int:
    from datetime import datetime

    micros = round(datetime.fromisoformat(text).timestamp() * 1e6)
    return (micros - fleet.start) // STEP + 1


def follow(sender: Sender, gate: Callable[[int], None], blocks: list[int]) -> threading.Thread:
    """Send in a thread; ``gate`` is asked before each block. Return the thread, started."""

    def run() -> None:
        for number, until in enumerate(blocks):
            gate(number)
            sender.send(until)
        sender.finish()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
