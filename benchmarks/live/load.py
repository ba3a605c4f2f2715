"""Latency, CPU share and memory of `axonad live` under the load of a fleet, and under overload.

    python benchmarks/live/load.py steady --seconds 600
    python benchmarks/live/load.py overload

``steady``: 256 vehicles send 19 channels at 10 Hz by HTTP, in requests of 32 vehicles, in real
time. The latency is that of the client: from sending a request to the answer, which comes when its
samples are stored. ``overload``: the same fleet sends by MQTT, first as fast as the server can
score, which gives the sustainable load, then twice that for a while; the figures of /metrics show
the lag, and in the end everything must be stored. Client and broker run on the same machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import queue
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from fleet import NAMES, Fleet, make_fleet, save_model
from servers import Broker, Server, wait_for

TICKS = os.sysconf("SC_CLK_TCK")
PART = 32  # vehicles of a request
BLOCK = 10  # rows of a message under overload
MODEL = {"name": "MultiView", "views": ("forecast", "relation")}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(pid: int) -> float:
    """Return the resident memory in MiB."""
    return (
        int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    )


def lines_of(fleet: Fleet) -> dict[str, list[bytes]]:
    """Return the samples of vehicles as JSON, with a place for the time."""
    return {
        vehicle: [
            b'{"vehicle": "%s", "time": %%.3f, %s'
            % (vehicle.encode(), json.dumps(dict(zip(NAMES, row, strict=True))).encode()[1:])
            for row in rows.tolist()
        ]
        for vehicle, rows in fleet.rows.items()
    }


class Client:
    """Posts the samples of some vehicles: all that have come due since its last request."""

    def __init__(self, port: int) -> None:
        self.took: list[float] = []  # seconds from due to stored, by row of its vehicles
        self.refused = 0
        self.work: queue.Queue[tuple[float, bytes] | None] = queue.Queue()
        self._port = port
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"Content-Type": "application/x-ndjson"}
        while (job := self.work.get()) is not None:
            jobs = [job]
            while not self.work.empty() and (more := self.work.get()) is not None:
                jobs.append(more)
            body = b"\n".join(lines for _, lines in jobs)
            connection.request("POST", "/api/v1/samples", body, headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
            now = time.monotonic()
            self.took += [now - due for due, _ in jobs]
            if answer.status != 200 or said["refused"]:
                self.refused += 1
        connection.close()

    def stop(self) -> None:
        while not self.work.empty():
            time.sleep(0.01)
        self.work.put(None)
        self._thread.join()


def run_steady(args: argparse.Namespace, folder: Path, model: Path) -> bool:
    fleet = make_fleet(args.vehicles, 600, start=0)
    lines = lines_of(fleet)
    config = {"store": {"url": f"sqlite:{folder}/live.db"}, "server": {"rate": 0.0}}
    server = Server(model, folder, config)
    server.start()
    server.wait()
    assert server.process is not None
    pid, names = server.process.pid, list(fleet.rows)
    clients = {first: Client(server.port) for first in range(0, len(names), PART)}
    began, cpu, table, marks = time.monotonic(), cpu_seconds(pid), [], []
    number, every = 0, max(5.0, args.seconds / 20)
    print("   minute  MiB  CPU cores  p50 ms  p99 ms")
    while (now := time.monotonic()) - began < args.seconds:
        stamp = time.time()
        for first, client in clients.items():
            body = b"\n".join(
                lines[name][number % 600] % stamp for name in names[first : first + PART]
            )
            client.work.put((time.monotonic(), body))
        number += 1
        if now - began >= every * (len(table) + 1):
            took = np.concatenate([client.took for client in clients.values()])
            used, (mid, slow) = cpu_seconds(pid), np.percentile(took, [50, 99]) * 1e3
            marks.append(now - began)
            table.append(memory(pid))
            share = (used - cpu) / (now - began)
            print(
                f"{marks[-1] / 60:9.1f} {table[-1]:4.0f} {share:10.2f} {mid:7.0f} {slow:7.0f}",
                flush=True,
            )
        time.sleep(max(0.0, began + number * 0.1 - time.monotonic()))
    for client in clients.values():
        client.stop()
    counts, refused = server.counts(), sum(client.refused for client in clients.values())
    figures = [line for line in server.get("/metrics").splitlines() if "latency_seconds{" in line]
    figures.append(f"commit_seconds {server.metric('commit_seconds')}")
    server.stop()
    print(f"the server's own figures: {figures}")
    later = slice(len(table) // 3, None)
    slope = np.polyfit(np.array(marks[later]) / 3600, table[later], 1)[0] / np.mean(table[later])
    sent = number * len(names)
    print(
        f"{sent:,} samples, {counts.get('samples', 0):,} arrived, requests with refused samples: "
        f"{refused}; memory {100 * slope:+.1f} % per hour over the last two thirds"
    )
    return counts.get("samples") == sent and not refused


def run_overload(args: argparse.Namespace, folder: Path, model: Path) -> bool:
    broker = Broker("mqtt", folder)
    _save_rarely(folder / "mosquitto.conf")
    broker.start()
    broker.wait()
    config = {
        "store": {"url": f"sqlite:{folder}/live.db"},
        "mqtt": {"url": f"mqtt://127.0.0.1:{broker.port}"},
    }
    server = Server(model, folder, config)
    server.start()
    server.wait()
    wait_for(lambda: b"connected to" in server.log.read_bytes(), "the subscription")
    sender = Mqtt(_connect(broker.port), make_fleet(64, 600, start=0))
    speed = _find_speed(args, server, sender)
    vehicles = round(2 * speed / 10)
    print(f"sustainable, with client and broker on the same machine: {speed:,.0f} samples/s")
    print(f"then {vehicles} vehicles at 10 Hz, twice that, for {args.overload:g} s")
    print("  second     sent   stored  queue  age p99 s")
    began, before, block, clock = time.monotonic(), sender.sent, 0, time.time() - 1.0
    while (passed := time.monotonic() - began) < args.overload:
        sender.send("over", vehicles, clock + block, block)
        block += 1
        _show(server, passed, sender.sent - before, before)
        time.sleep(max(0.0, began + block - time.monotonic()))
    while server.counts()["samples"] < sender.sent and time.monotonic() - began < 600:
        time.sleep(2.0)
        _show(server, time.monotonic() - began, sender.sent - before, before)
    counts = server.counts()
    odd = {key: counts[key] for key in ("late", "duplicate", "future", "shed") if key in counts}
    print(f"sent {sender.sent:,}, stored {counts['samples']:,}, refused {odd}")
    sender.client.loop_stop()
    server.stop()
    broker.stop()
    return counts["samples"] == sender.sent and not odd


class Mqtt:
    """Sends blocks of rows of any number of vehicles."""

    def __init__(self, client: Any, fleet: Fleet) -> None:
        self.client, self.sent = client, 0
        self._parts = [_columns(fleet, vehicle) for vehicle in fleet.rows]

    def send(self, name: str, vehicles: int, first: float, block: int) -> None:
        """Send ten rows of each vehicle, the first of them with a time in seconds."""
        times = json.dumps([round(first + i / 10, 3) for i in range(BLOCK)]).encode()
        for number in range(vehicles):
            parts = self._parts[number % len(self._parts)]
            body = b'{"times": %s, "values": %s}' % (times, parts[block % len(parts)])
            self.client.publish(f"fleet/{name}-{number}", body, qos=1)
            self.sent += BLOCK


def _find_speed(args: argparse.Namespace, server: Server, sender: Mqtt) -> float:
    """Return how many samples per second are stored while enough of them wait."""
    first, block, stored = time.time() - 86_400.0, 0, 0
    began = time.monotonic()
    while time.monotonic() - began < args.find:
        while sender.sent - stored < 30_000:
            sender.send("find", args.vehicles, first + block, block)
            block += 1
        time.sleep(0.5)
        stored = server.counts().get("samples", 0)
    speed = stored / (time.monotonic() - began)
    wait_for(lambda: server.counts()["samples"] >= sender.sent, "the first samples", seconds=300)
    return speed


def _connect(port: int) -> Any:
    import paho.mqtt.client as paho

    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    client.max_inflight_messages_set(5_000)
    client.connect("127.0.0.1", port)
    client.loop_start()
    return client


def _save_rarely(path: Path) -> None:
    """Let the broker write its file now and then, not with every message."""
    path.write_text(path.read_text().replace("autosave_on_changes true\nautosave_interval 1", ""))


def _columns(fleet: Fleet, vehicle: str) -> list[bytes]:
    rows = np.nan_to_num(fleet.rows[vehicle])
    return [
        json.dumps(
            {n: rows[i : i + BLOCK, c].tolist() for c, n in enumerate(NAMES)}
        ).encode()
        for i in range(0, len(rows), BLOCK)
    ]  # fmt: skip


def _show(server: Server, passed: float, sent: int, before: int) -> None:
    lines = server.get("/metrics", timeout=60).splitlines()
    ages = [line for line in lines if 'age_seconds{quantile="0.99"}' in line]
    stored, queued = server.counts()["samples"] - before, server.metric("queue_samples")
    age = float(ages[0].rsplit(" ", 1)[1]) if ages else float("nan")
    print(f"{passed:8.0f} {sent:8,} {stored:8,} {queued:6,.0f} {age:10.1f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["steady", "overload"])
    parser.add_argument("--vehicles", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the steady load")
    parser.add_argument(
        "--find", type=float, default=10.0, help="seconds to find what is sustained"
    )
    parser.add_argument("--overload", type=float, default=20.0, help="seconds of overload")
    parser.add_argument("--model", type=Path, help="folder of a model; default: one is fitted")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = args.model or save_model(folder / "model", **MODEL)
        run = run_steady if args.what == "steady" else run_overload
        return not run(args, folder, model)


if __name__ == "__main__":
    sys.exit(main())
