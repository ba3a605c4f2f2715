"""Notices and REST carry the sentence of the event's page, and never wait long for it."""

import json
from dataclasses import replace
from threading import Event
from time import monotonic

import pytest

from axonad.errors import InputError
from axonad.live.config import Alertmanager, LiveConfig, Webhook
from axonad.live.record import EventQuery
from axonad.live.sinks import runner as running
from axonad.live.sinks.alertmanager import AlertmanagerSink
from axonad.live.sinks.runner import SinkRunner
from axonad.live.sinks.sentences import Sentences
from axonad.live.sinks.webhook import WebhookSink
from axonad.live.store.contract import StoreUnavailableError
from axonad.live.web.app import create_app
from tests.live.web.client import Client


def told(receiver):
    return [json.loads(body) for _, _, body in receiver.posts]


def only_event(drive):
    (event,) = drive.engine.events(EventQuery())
    return event


@pytest.fixture
def client(drive):
    made = Client(create_app(drive.engine, LiveConfig(), None, explain=drive.explain))
    yield made
    made.close()


def test_a_notice_has_the_sentence_of_the_page(drive, receiver, client):
    runner = SinkRunner(
        WebhookSink(Webhook(url=receiver.url)), drive.store, sentences=drive.sentences
    )
    for rows in (160, 240):
        drive.send(rows)
        runner.round()
        sentence = told(receiver)[-1]["event"]["sentence"]
        assert sentence.startswith("yaw_rate ") and "no longer follows steering" in sentence
        event = only_event(drive)
        assert client.get(f"/api/v1/events/{event.id}").json()["sentence"] == sentence
        assert sentence in client.page(f"/events/{event.id}").text
    fired, resolved = told(receiver)
    assert [fired["what"], resolved["what"]] == ["fired", "resolved"]
    assert fired["event"]["sentence"] != resolved["event"]["sentence"], "it is told by all its rows"


def test_without_sinks_rest_has_the_sentence_too(drive):
    drive.send(160)
    assert only_event(drive).sentence == ""
    SinkRunner(drive.sentences, drive.store).round()
    assert only_event(drive).sentence.startswith("yaw_rate ")
    drive.send(20)
    assert only_event(drive).sentence.startswith("yaw_rate "), "commits leave it as it is"


def test_an_event_of_bad_data_is_told_by_its_reason(drive):
    drive.send(160)
    event = replace(
        only_event(drive), id="d", kind="data", reason="frozen", channels=("speed",), final=True
    )
    assert drive.sentences.of(event) == "speed: frozen; these values are no measurements."


def test_each_state_of_an_event_is_explained_once(drive):
    asked = []

    def make(event):
        asked.append(event.final)
        return f"sentence {len(asked)}"

    sentences = Sentences(drive.store, make)
    drive.send(160)
    fired = only_event(drive)
    assert [sentences.of(fired) for _ in range(2)] == ["sentence 1"] * 2
    drive.send(240)
    assert [sentences.of(fired) for _ in range(2)] == ["sentence 2"] * 2
    assert asked == [False, True] and only_event(drive).sentence == "sentence 2"


@pytest.mark.parametrize("error", [InputError("its rows are no longer stored"), KeyError("a bug")])
def test_what_cannot_be_explained_is_told_as_it_was_before(drive, receiver, error):
    def make(event):
        raise error

    settings = Alertmanager(url=receiver.url)
    sentences = Sentences(drive.store, make)
    runner = SinkRunner(AlertmanagerSink(settings), drive.store, sentences=sentences)
    drive.send(160)
    runner.round()
    ((alert,),) = told(receiver)
    score = f"{only_event(drive).score:.3g}"
    told_so = f"channels yaw_rate, steering, speed, score {score}"
    assert alert["annotations"]["description"] == told_so
    drive.store.put_sentence(only_event(drive).id, "yaw_rate is shifted")
    assert Sentences(drive.store, make).of(only_event(drive)) == "yaw_rate is shifted"


def test_a_store_that_is_gone_is_waited_for(drive):
    def make(event):
        raise StoreUnavailableError("the database is gone")

    drive.send(160)
    with pytest.raises(StoreUnavailableError):
        Sentences(drive.store, make).of(only_event(drive))


def test_slow_explanations_hold_up_neither_the_engine_nor_many_notices(
    drive, receiver, monkeypatch
):
    monkeypatch.setattr(running, "PATIENCE", 0.0)
    go_on = Event()

    def make(event):
        assert go_on.wait(60)
        return "made later"

    sentences = Sentences(drive.store, make)
    hook = WebhookSink(Webhook(url=receiver.url))
    runner = SinkRunner(hook, drive.store, sentences=sentences, poll=0.01)
    maker = SinkRunner(sentences, drive.store, poll=0.01)
    maker.start()
    runner.start()
    drive.send(160)
    drive.send(240)
    until = monotonic() + 60
    while len(receiver.posts) < 2 and monotonic() < until:
        Event().wait(0.01)
    assert [one["event"]["sentence"] for one in told(receiver)] == ["", ""]
    go_on.set()
    while not only_event(drive).sentence and monotonic() < until:
        Event().wait(0.01)
    assert only_event(drive).sentence == "made later"
    for one in (maker, runner):
        one.stop()
