"""Events in a real Alertmanager: told when they fire, reminded of, resolved."""

import json
import urllib.request
from datetime import datetime

import pytest

from axonad.live.config import Alertmanager
from axonad.live.record import EventQuery
from axonad.live.sinks.alertmanager import AlertmanagerSink
from axonad.live.sinks.runner import SinkRunner
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


def test_an_event_fires_is_reminded_of_and_resolved(drive, manager, receiver):
    settings = Alertmanager(url=f"http://127.0.0.1:{manager.port}", resend="1s")
    sink = AlertmanagerSink(settings, public_url=PUBLIC)
    runner = SinkRunner(sink, drive.store, sentences=drive.sentences, poll=0.1)
    runner.start()
    drive.send(160)
    wait_for(lambda: read(manager), "the alert")
    (event,) = drive.engine.events(EventQuery())
    (first,) = read(manager)
    assert first["labels"]["event"] == event.id and first["status"]["state"] == "active"
    assert first["annotations"]["description"] == event.sentence
    assert event.sentence.startswith("yaw_rate ")
    assert first["generatorURL"] == f"{PUBLIC}/events/{event.id}"
    wait_for(lambda: ends(read(manager)[0]) > ends(first), "the reminder")
    (again,) = read(manager)
    for same in ("fingerprint", "annotations", "generatorURL", "startsAt"):
        assert again[same] == first[same]
    drive.send(240)
    wait_for(lambda: not read(manager), "the end of the alert")
    wait_for(lambda: len(notified(receiver)) == 2, "the news of its end")
    runner.stop()
    fired, over = notified(receiver)
    (event,) = drive.engine.events(EventQuery())
    assert [fired["status"], over["status"]] == ["firing", "resolved"]
    assert over["annotations"]["description"] == event.sentence
    assert over["generatorURL"] == fired["generatorURL"]
