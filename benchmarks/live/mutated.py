"""Send damaged messages and requests to a running `axonad live`, by HTTP and by MQTT.

    python benchmarks/live/mutated.py --count 100000

The messages are those of tests/fuzz/message_mutations.py, for the channels of the model too. A
sound vehicle sends meanwhile. The server must not end, answer no request with a fault of its own
(5xx other than 503), score every sample of the sound vehicle, and not grow.
"""

from __future__ import annotations

import argparse
import http.client
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from fleet import make_fleet, save_model
from load import memory
from servers import Broker, Server, wait_for

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fuzz.message_mutations import mutated

TYPES = (
    "application/json",
    "application/x-ndjson",
    "application/json; charset=utf-8",
    "",
    "text/x",
)
PATHS = (
    "/api/v1/vehicles", "/api/v1/vehicles/{}", "/api/v1/vehicles/{}/scores",
    "/api/v1/vehicles/{}/recent", "/api/v1/events", "/api/v1/events/{}",
    "/api/v1/events/{}/acknowledge", "/api/v1/events/{}/comment", "/", "/vehicles/{}",
    "/events", "/events/{}", "/metrics", "/ready", "/health", "/{}",
)  # fmt: skip
QUERIES = ("", "?limit={}", "?after={}", "?start={}", "?rows={}", "?state={}", "?since={}")
CLIENTS = 4  # that send by HTTP at the same time
CHANNELS = ("yaw_rate", "vehicle_speed", "engine_torque")


def message(rng: random.Random) -> bytes:
    """Return a damaged message; half of them with channels of the model."""
    data = mutated(rng)
    if rng.random() < 0.5:
        for old, new in zip((b"speed", b"torque", b"yaw"), CHANNELS, strict=True):
            data = data.replace(old, new.encode())
    return data


def by_http(port: int, count: int, seed: int, answers: Counter[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in range(count):
        rng = random.Random(seed * 10**7 + number)  # noqa: S311
        body = message(rng)
        try:
            if rng.random() < 0.7:
                headers = {"Content-Type": rng.choice(TYPES)}
                connection.request("POST", "/api/v1/samples", body, headers)
            else:
                text = quote(body[:200], safe=rng.choice(["", "/%"]))
                path = (rng.choice(PATHS) + rng.choice(QUERIES)).replace("{}", text)
                method = rng.choice(["GET", "GET", "POST", "DELETE"])
                connection.request(method, path, body if method == "POST" else None)
            answer = connection.getresponse()
            said = answer.read()
            answers[f"HTTP {answer.status}"] += 1
            if answer.status >= 500 and answer.status != 503:
                print(f"seed {seed * 10**7 + number}: {answer.status} {said[:300]!r}", flush=True)
        except (http.client.HTTPException, OSError) as error:
            answers[type(error).__name__] += 1
            connection.close()


def by_mqtt(port: int, count: int, seed: int, answers: Counter[str]) -> None:
    import paho.mqtt.client as paho

    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    last = None
    for number in range(count):
        rng = random.Random(seed * 10**7 + number)  # noqa: S311
        name = rng.choice(["car", "Wagen é", "x" * 200, " ", "\u202e", "0"])
        topic = f"fleet/{name}" + rng.choice(["", f"/{rng.choice(CHANNELS)}", "/?"])
        try:
            last = client.publish(topic, message(rng), qos=rng.choice([0, 1, 1]))
            answers["MQTT"] += 1
        except ValueError:
            answers["not a topic"] += 1
        if number % 500 == 0 and last is not None:
            last.wait_for_publish(10)
    if last is not None:
        last.wait_for_publish(10)
    client.disconnect()
    client.loop_stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="of each way")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    answers: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = save_model(folder / "model")
        broker = Broker("mqtt", folder)
        broker.start()
        broker.wait()
        config = {
            "store": {"url": f"sqlite:{folder}/live.db"},
            "mqtt": {"url": f"mqtt://127.0.0.1:{broker.port}"},
            "server": {"rate": 0.0},
            "input": {"commit_every": "0s"},
        }
        server = Server(model, folder, config)
        server.start()
        server.wait()
        assert server.process is not None
        pid, sizes = server.process.pid, []
        sound = make_fleet(1, 4_000, start=round(time.time() - 400) * 1_000_000)
        share = max(CLIENTS, args.count // 20)
        for part in range(20):
            work = [(by_mqtt, broker.port, share, 100 * args.seed + part)]
            for client in range(CLIENTS):
                seed = 100 * args.seed + 20 * (client + 1) + part
                work.append((by_http, server.port, share // CLIENTS, seed))
            threads = [
                threading.Thread(target=way, args=(*rest, answers), daemon=True)
                for way, *rest in work
            ]
            for thread in threads:
                thread.start()
            body = sound.message("car-000", 200 * part, 200 * (part + 1))
            fit = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            fit.request("POST", "/api/v1/samples", body, {"Content-Type": "application/json"})
            answer = fit.getresponse()
            if answer.status != 200 or b'"accepted":200' not in answer.read():
                answers["sound samples refused"] += 1
            fit.close()
            for thread in threads:
                thread.join()
            server.check()
            sizes.append(memory(pid))
        wait_for(lambda: server.metric("queue_samples") == 0, "the queue")
        counts = server.counts()
        print(dict(sorted(answers.items())))
        print(f"memory by twentieth, MiB: {[round(size) for size in sizes]}")
        print(f"counts: {counts}")
        code = server.stop()
        log = server.log.read_text(errors="replace")
        broker.stop()
    faults = [key for key in answers if key.startswith("HTTP 5") and key != "HTTP 503"]
    faults += [key for key in ("sound samples refused",) if answers[key]]
    if "Traceback" in log or counts.get("failed") or code:
        faults.append(f"exit code {code}, failed {counts.get('failed', 0)}")
        print(log[-3_000:])
    print("faults:", faults or "none")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
