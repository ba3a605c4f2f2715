"""Live stores as a server that is killed leaves them, and what people had written into them.

The stores beside this file were written by release 0.2.0 (commit 5d9358e) and are never written
anew:

    PYTHONPATH=.:../old/src python -m tests.golden.stores postgresql://postgres@127.0.0.1/postgres

Four vehicles sent parts of their series: events of all categories have ended, one goes on and
gathers others, one is firing; two are acknowledged, one is shelved, two have comments. The stores
were copied while the server ran, so that samples since the last snapshots lie in them too.

``held_by`` is the adapter: it alone knows how the present version opens a store.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import secrets
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import axonad
from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.record import Action, EventQuery
from axonad.live.sample import Delivery, Sample
from axonad.live.store.choose import open_store
from tests.golden.cases import HERE, Pair
from tests.golden.series import samples_of
from tests.golden.ways import DELIVERY, Receipts

STORES = HERE / "stores"
MODEL = "relation-all"
SENT = {"sensors": 1250, "flicker": 1600, "storm": 1700, "lasting": 900}
"""Rows that each vehicle sent."""

ACTIONS = (
    (
        "flicker",
        1,
        Action("comment", "Ada", "Wheel changed the day before.", 1_772_440_000_000_000),
    ),
    ("flicker", 1, Action("acknowledge", "Ada", "", 1_772_440_100_000_000)),
    ("flicker", 2, Action("shelve", "Ada", "", 1_772_440_200_000_000)),
    ("storm", 1, Action("comment", "Bø", "Ist das „normal“? <b>no</b>", 1_772_440_300_000_000)),
    ("storm", 1, Action("comment", "Ada", "Worn tyres.", 1_772_440_400_000_000)),
    ("storm", 2, Action("acknowledge", "Bø", "", 1_772_440_500_000_000)),
)
"""What people did: vehicle, number of the anomaly, action."""

ROWS = (50, 208, 212, 609, 899)
"""Rows of each vehicle whose stored values and scores are written down."""


def held_by(url: str) -> dict[str, Any]:
    """Return what a store holds for people: events, their actions, traces, vehicles."""
    store = open_store(Storing(url=url))
    store.start(model=axonad.load(HERE / "models" / MODEL).fingerprint)
    try:
        events = store.events(EventQuery(limit=1000))
        return {
            "events": sorted((_event(one) for one in events), key=lambda one: one["id"]),
            "traces": {vehicle: _trace(store, vehicle) for vehicle in SENT},
            "vehicles": sorted(store.vehicles()),
        }
    finally:
        store.close()


def _event(event) -> dict[str, Any]:
    return {
        "id": event.id, "vehicle": event.vehicle, "category": event.kind, "number": event.number,
        "begin_us": event.begins, "last_us": event.ends, "fired_us": event.fired,
        "peak_us": event.peak, "score": None if event.score != event.score else event.score,
        "severity": event.severity, "channels": list(event.channels), "reason": event.reason,
        "drift": event.drift, "status": event.status, "final": event.final,
        "acknowledged": event.acknowledged, "shelved": event.shelved,
        "comments": [dict(comment) for comment in event.comments],
    }  # fmt: skip


def _trace(store, vehicle) -> dict[str, Any]:
    found = store.course(vehicle, 0, 2**62, rows=100_000)
    rows = [row for row in ROWS if row < len(found)]
    return {
        "rows": len(found), "first_us": int(found.times[0]), "last_us": int(found.times[-1]),
        "alarms": int(found.alarms.sum()),
        "values": [[float(value) for value in found.values[row]] for row in rows],
        "scores": [float(found.scores[row]) for row in rows],
    }  # fmt: skip


# -- copies ----------------------------------------------------------------------------------------


def unpack(name: str, target: Path) -> Path:
    """Write a stored file uncompressed; return where it is."""
    target.write_bytes(gzip.decompress((STORES / name).read_bytes()))
    return target


def restore(url: str) -> None:
    """Restore the dump of PostgreSQL into an empty database."""
    import psycopg

    dump = gzip.decompress((STORES / "live-postgres.sql.gz").read_bytes()).decode()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(dump)


def database(server: str) -> str:
    """Create a database of a random name at a server; return its URL."""
    import psycopg

    name = f"axonad_golden_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    return server.rpartition("/")[0] + "/" + name


# -- writing them ----------------------------------------------------------------------------------


def fill(url: str, copy) -> None:
    """Run a server on a store, do what people did, and call ``copy`` while it runs."""
    config = LiveConfig(
        input=Input(commit_every="0s", max_ahead="1d", expire="1000d"),
        store=Storing(url=url, snapshot_rows=300, keep_days=1e5, keep_events_days=1e5),
    )
    engine = LocalEngine(axonad.load(HERE / "models" / MODEL), open_store(config.store), config)
    engine.start()
    receipts, sent = Receipts(), 0
    for vehicle, rows in SENT.items():
        samples = [Sample(vehicle, *one) for one in samples_of(Pair(MODEL, vehicle))[:rows]]
        for first in range(0, rows, DELIVERY):
            engine.submit(
                Delivery(samples[first : first + DELIVERY], "golden", receipts), timeout=60
            )
            sent += 1
            receipts.wait(sent)
    for vehicle, number, action in ACTIONS:
        query = EventQuery(vehicle=vehicle, kind="anomaly", limit=1000)
        (id,) = [event.id for event in engine.events(query) if event.number == number]
        engine.act(id, action)
    copy()
    engine.stop()


def write_sqlite(folder: Path) -> None:
    """Write the store of SQLite."""
    path, target = folder / "live.db", folder / "copy.db"

    def copy():
        with sqlite3.connect(path) as source, sqlite3.connect(target) as found:
            source.backup(found)

    fill(f"sqlite:{path}", copy)
    (STORES / "live-sqlite.db.gz").write_bytes(gzip.compress(target.read_bytes(), mtime=0))


def write_postgres(server: str) -> None:
    """Write the dump of PostgreSQL."""
    url = database(server)

    def copy():
        words = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", url]
        dump = subprocess.run(words, check=True, capture_output=True, text=True).stdout  # noqa: S603
        dump = re.sub(r"^(\\.*|SET .*|SELECT pg_catalog.set_config.*)\n", "", dump, flags=re.M)
        (STORES / "live-postgres.sql.gz").write_bytes(gzip.compress(dump.encode(), mtime=0))

    fill(url, copy)


if __name__ == "__main__":
    STORES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        write_sqlite(Path(name))
        write_postgres(sys.argv[1])
        held = held_by(f"sqlite:{unpack('live-sqlite.db.gz', Path(name) / 'held.db')}")
    text = json.dumps(held, indent=1, ensure_ascii=False)
    (STORES / "held.json").write_text(text + os.linesep, encoding="utf-8")
