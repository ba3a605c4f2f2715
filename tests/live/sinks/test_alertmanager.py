"""Events in a real Alertmanager: told when they fire, reminded of, resolved."""

import json
import urllib.request
from datetime import datetime
from time import time

import pytest

from axonad.live.config import Alertmanager
from axonad.live.record import EventRecord, Notice
from axonad.live.sinks.alertmanager import AlertmanagerSink
from axonad.live.sinks.runner import SinkRunner
from axonad.live.store.contract import Commit
from axonad.live.store.memory import MemoryStore
from tests.live.sources.brokers import alertmanager
from tests.live.sources.fake_engine import wait_for

pytestmark = pytest.mark.live
PUBLIC = "https://fleet.example.org"


@pytest.fixture
def manager(tmp_path, receiver):
    """A running Alertmanager that notifies ``receiver``."""
    found = alertmanager(tmp_path, receiver=receiver.url)
    found.start()
    yield found
    found.close()


def read(manager):
    """Return the alerts that are active, from the API."""
    url = f"http://127.0.0.1:{manager.port}/api/v2/alerts"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def ends(alert):
    return datetime.fromisoformat(alert["endsAt"])


def notified(receiver):
    """Return the alerts that Alertmanager has passed on, in order."""
    return [alert for _, _, body in receiver.posts for alert in json.loads(body)["alerts"]]


def record(status):
    now = round(time() * 1e6)
    return EventRecord(
        id="e1", vehicle="car <1>", number=1, kind="anomaly", severity="alarm", status=status,
        begins=now - 5_000_000, ends=now, fired=now, peak=now, score=3.5, channels=("yaw_rate",),
        final=status == "resolved",
    )  # fmt: skip


def test_an_event_fires_is_reminded_of_and_resolved(manager, receiver):
    store = MemoryStore()
    settings = Alertmanager(url=f"http://127.0.0.1:{manager.port}", resend="1s")
    runner = SinkRunner(AlertmanagerSink(settings, public_url=PUBLIC), store, poll=0.1)
    fired, over = record("firing"), record("resolved")
    store.commit(Commit(1, events=[fired], notices=[Notice("e1/fired", "fired", fired)]))
    runner.start()
    wait_for(lambda: read(manager), "the alert")
    (first,) = read(manager)
    assert first["labels"]["event"] == "e1" and first["status"]["state"] == "active"
    assert first["annotations"]["description"] == "channels yaw_rate, score 3.5"
    assert first["generatorURL"] == f"{PUBLIC}/events/e1"
    wait_for(lambda: ends(read(manager)[0]) > ends(first), "the reminder")
    (again,) = read(manager)
    assert again["fingerprint"] == first["fingerprint"]
    store.commit(Commit(2, events=[over], notices=[Notice("e1/resolved", "resolved", over)]))
    wait_for(lambda: not read(manager), "the end of the alert")
    wait_for(lambda: len(notified(receiver)) == 2, "the news of its end")
    runner.stop()
    alerts = notified(receiver)
    assert [alert["status"] for alert in alerts] == ["firing", "resolved"]
    assert all(alert["generatorURL"] == f"{PUBLIC}/events/e1" for alert in alerts)
