"""Webhook and Alertmanager against an HTTP server that fails when told to."""

import json
import threading
from functools import partial
from time import time

import pytest

from axonad.errors import ConfigError
from axonad.live.config import Alertmanager, Webhook, parse_config
from axonad.live.record import Action, EventRecord, Notice
from axonad.live.sinks.alertmanager import AlertmanagerSink
from axonad.live.sinks.choose import open_sinks
from axonad.live.sinks.contract import SinkError
from axonad.live.sinks.runner import SinkRunner
from axonad.live.sinks.webhook import WebhookSink, sign
from axonad.live.store.contract import Commit
from axonad.live.store.memory import MemoryStore

NOW = round(time() * 1e6)


def record(number=1, status="firing", ends=NOW):
    return EventRecord(
        id=f"e{number}", vehicle="car <1>", number=number, kind="anomaly", severity="alarm",
        status=status, begins=NOW - 10, ends=ends, fired=NOW, peak=NOW, score=3.5,
        channels=("yaw",),
    )  # fmt: skip


def notice(what, event):
    return Notice(f"{event.id}/{what}/1", what, event)


def store_with(*notices):
    store = MemoryStore()
    store.commit(Commit(1, events=[n.event for n in notices], notices=notices))
    return store


def test_a_webhook_is_told_once_signed_and_again_after_a_failure(receiver):
    settings = Webhook(url=receiver.url + "/hook")
    store = store_with(notice("fired", record()), notice("resolved", record(status="resolved")))
    runner = SinkRunner(WebhookSink(settings, secret="s"), store)  # noqa: S106
    receiver.answers = [200, 500]
    assert runner.round()
    with pytest.raises(SinkError, match="answered 500"):
        runner.round()
    while runner.round():
        pass
    ids = [headers["X-AxonAD-Id"] for _, headers, _ in receiver.posts]
    assert ids == ["e1/fired/1", "e1/resolved/1"]
    _, headers, body = receiver.posts[-1]
    assert headers["X-AxonAD-Signature"] == sign(b"s", headers["X-AxonAD-Timestamp"], body)
    assert json.loads(body)["event"]["vehicle"] == "car <1>"


def test_notices_are_given_up_when_old_and_refused(receiver):
    old = record(ends=NOW - 3 * 86_400_000_000)
    store = store_with(notice("fired", old), notice("fired", record(2)))
    runner = SinkRunner(WebhookSink(Webhook(url=receiver.url)), store)
    receiver.answers = [500]
    runner.start()
    while store.notices("webhook", limit=9):
        threading.Event().wait(0.01)
    runner.stop()
    assert runner.status.given_up == 1 and runner.status.told == 1
    assert [headers["X-AxonAD-Id"] for _, headers, _ in receiver.posts] == ["e2/fired/1"]


def test_old_notices_are_told_to_a_sink_that_takes_them(receiver):
    old = record(ends=NOW - 3 * 86_400_000_000)  # or the clock has jumped
    runner = SinkRunner(WebhookSink(Webhook(url=receiver.url)), store_with(notice("fired", old)))
    runner.round()
    assert len(receiver.posts) == 1 and runner.status.given_up == 0


def test_alertmanager_gets_firing_events_again_and_resolved_ones_once(receiver):
    sink = AlertmanagerSink(Alertmanager(url=receiver.url, labels={"site": "x"}))
    store = store_with(notice("fired", record()), notice("fired", record(2)))
    store.act("e2", Action("shelve"))
    runner = SinkRunner(sink, store)
    runner.start()
    while len(receiver.posts) < 2:
        threading.Event().wait(0.01)
    runner.stop()
    path, _, body = receiver.posts[1]  # the reminder
    (alert,) = json.loads(body)
    assert path == "/api/v2/alerts"
    assert alert["labels"] == {
        "site": "x", "alertname": "axonad_anomaly", "vehicle": "car <1>", "event": "e1",
    }  # fmt: skip
    assert alert["endsAt"] > alert["startsAt"]
    sink.tell([notice("resolved", record(status="resolved"))])
    ended = json.loads(receiver.posts[-1][2])[0]
    assert ended["labels"] == alert["labels"] and ended["endsAt"] < alert["endsAt"]


def test_redirects_and_dead_servers_are_failures(receiver):
    receiver.answers = [302]
    sink = WebhookSink(Webhook(url=receiver.url))
    with pytest.raises(SinkError, match="answered 302"):
        sink.tell([notice("fired", record())])
    with pytest.raises(SinkError, match="cannot be reached"):
        WebhookSink(Webhook(url="http://127.0.0.1:9")).tell([notice("fired", record())])
    with pytest.raises(ConfigError, match="must be an address"):
        WebhookSink(Webhook(url="file:///etc/passwd"))


LINKED = "https://fleet.example.org/events/e1"


def told_with(make_sink, receiver, event):
    make_sink(public_url="https://fleet.example.org/").tell([notice("fired", event)])
    make_sink().tell([notice("fired", event)])
    return [json.loads(body) for _, _, body in receiver.posts]


def test_notices_link_to_the_page_of_the_event_if_its_address_is_known(receiver):
    hook = partial(WebhookSink, Webhook(url=receiver.url))
    linked, plain = told_with(hook, receiver, record())
    assert linked["event"]["link"] == LINKED and "link" not in plain["event"]
    receiver.posts.clear()
    alerts = partial(AlertmanagerSink, Alertmanager(url=receiver.url))
    (linked,), (plain,) = told_with(alerts, receiver, record())
    assert linked["generatorURL"] == LINKED and "generatorURL" not in plain


def test_every_sink_is_given_the_public_address():
    config = parse_config(
        {
            "server": {"public_url": "https://fleet.example.org"},
            "alertmanager": {"url": "http://127.0.0.1:9"},
            "webhook": {"url": "http://127.0.0.1:9"},
            "mqtt": {"url": "mqtt://127.0.0.1:9"},
            "mqtt_events": {"topic": "events"},
        }
    )
    for sink in open_sinks(config):
        assert sink._public_url == "https://fleet.example.org"
