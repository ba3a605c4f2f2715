"""A store of release 0.2.0 keeps what people see and wrote: events, comments, traces, vehicles."""

import json

import pytest

from axonad import load
from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.store.choose import open_store
from tests.golden.cases import HERE
from tests.golden.stores import MODEL, SENT, STORES, held_by, restore, unpack

HELD = json.loads((STORES / "held.json").read_text(encoding="utf-8"))


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:{unpack('live-sqlite.db.gz', tmp_path / 'live.db')}"


def test_sqlite_keeps_all_it_held(sqlite_url):
    assert held_by(sqlite_url) == HELD


@pytest.mark.live
def test_postgres_keeps_all_it_held(postgres_url):
    restore(postgres_url)
    assert held_by(postgres_url) == HELD


def test_a_server_keeps_what_people_see_and_begins_its_vehicles_anew(sqlite_url, caplog):
    storing = Storing(url=sqlite_url, keep_days=1e5, keep_events_days=1e5)
    config = LiveConfig(input=Input(expire="100000d"), store=storing)
    engine = LocalEngine(load(HERE / "models" / MODEL), open_store(config.store), config)
    engine.start()
    engine.stop()
    held = held_by(sqlite_url)
    going_on = [event for event in HELD["events"] if not event["final"]]
    assert len(going_on) >= 2
    known = {event["id"]: event for event in held["events"]}
    for event in HELD["events"]:
        over = {"status": "resolved", "final": True} if event in going_on else {}
        assert known[event["id"]] == event | over
    assert held["vehicles"] == HELD["vehicles"]
    for vehicle in SENT:
        assert f"vehicle '{vehicle}' begins anew" in caplog.text
    assert "it was saved by axonad 0.2" in caplog.text
    assert {name: trace["rows"] for name, trace in held["traces"].items()} == SENT
    assert {status.vehicle for status in engine.vehicles()} == set(SENT)


def test_people_have_written_into_it():
    events = HELD["events"]
    assert {event["category"] for event in events} == {"anomaly", "data", "drift"}
    assert {event["status"] for event in events} == {"firing", "resolved"}
    for name in ("acknowledged", "shelved", "comments"):
        assert any(event[name] for event in events)
