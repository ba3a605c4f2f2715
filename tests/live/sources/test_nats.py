"""NATS JetStream with a real server: in order, and from the stored position on."""

import asyncio
import logging
import random

import pytest

from axonad.live.config import Nats
from axonad.live.sources.nats import NatsSource
from tests.fuzz.message_mutations import mutated
from tests.live.sources.brokers import nats_server, resident_mebibytes
from tests.live.sources.fake_engine import FakeEngine, wait_for, without_repeats

nats = pytest.importorskip("nats")
pytestmark = pytest.mark.live
PLACE = "nats:FLEET"


@pytest.fixture
def server(tmp_path):
    found = nats_server(tmp_path)
    found.start()
    yield found
    found.close()


@pytest.fixture
def run(monkeypatch):
    """Start sources; stop them at the end."""
    monkeypatch.setattr("axonad.live.sources.nats.FINISH", 0.5)
    started = []

    def start(engine, server, **options):
        source = NatsSource(Nats(url=f"nats://127.0.0.1:{server.port}", **options))
        started.append(source)
        source.start(engine)
        return source

    yield start
    for source in started:
        source.stop()


def do(server, action):
    """Run an action with a JetStream client of its own."""

    async def work():
        client = await nats.connect(f"nats://127.0.0.1:{server.port}")
        try:
            return await action(client.jetstream())
        finally:
            await client.close()

    return asyncio.run(work())


def publish(server, messages):
    async def send(js):
        for subject, data in messages:
            await js.publish(subject, data)

    do(server, send)


def publish_rows(server, numbers):
    publish(server, [("fleet.car", b'{"time": %d, "x": 1}' % number) for number in numbers])


def make_stream(server, **options):
    do(server, lambda js: js.add_stream(name="FLEET", subjects=["fleet.>"], **options))


def pending(server):
    return do(server, lambda js: js.consumer_info("FLEET", "axonad-live")).num_ack_pending


def micros(numbers):
    return [number * 10**6 for number in numbers]


def test_a_missing_stream_is_created_and_read(server, run, caplog):
    engine = FakeEngine()
    with caplog.at_level(logging.WARNING, logger="axonad.live"):
        source = run(engine, server)
        wait_for(lambda: source.status().is_connected)
    assert (
        "there is no stream FLEET; it is created for the subjects fleet.*, fleet.*.*" in caplog.text
    )
    publish(
        server,
        [
            ("fleet.car", b'{"time": 1, "speed": 2.5}'),
            ("fleet.car.speed", b"3.5"),
            ("fleet.car.speed", b"broken"),
            ("fleet.car.speed", b'{"time": 4, "value": 5}'),
        ],
    )
    wait_for(lambda: len(engine.samples) == 3)
    assert [dict(sample.values) for sample in engine.samples] == [
        {"speed": 2.5}, {"speed": 3.5}, {"speed": 5.0},
    ]  # fmt: skip
    assert engine.samples[1].time > 1.7e15, "the time at which the stream took it"
    wait_for(lambda: pending(server) == 0, "the acknowledgement of all, the bad one too")
    assert engine.positions == {PLACE: 4}
    status = source.status()
    assert (status.messages, status.bad, status.error) == (4, 1, "")


@pytest.mark.parametrize("retention", ["limits", "workqueue"])
def test_reading_goes_on_after_the_stored_position(server, run, retention):
    make_stream(server, retention=retention)
    publish_rows(server, range(5))
    first = FakeEngine()
    source = run(first, server, fetch=2)
    wait_for(lambda: len(first.samples) == 5)
    first.mode = "withhold"
    publish_rows(server, range(5, 10))
    wait_for(lambda: first.withheld)
    source.stop()
    publish_rows(server, range(10, 15))
    second = FakeEngine(positions=first.positions)
    run(second, server)
    wait_for(lambda: second.samples and second.positions[PLACE] == 15)
    assert [sample.time for sample in second.samples] == micros(range(5, 15))
    wait_for(lambda: pending(server) == 0)


def test_nothing_is_lost_when_the_server_is_killed(server, run):
    make_stream(server)
    engine = FakeEngine()
    source = run(engine, server, fetch=50)
    publish_rows(server, range(200))
    wait_for(lambda: len(engine.samples) == 200)
    engine.mode = "withhold"
    publish_rows(server, range(200, 400))
    wait_for(lambda: engine.withheld)
    server.kill()
    wait_for(lambda: not source.status().is_connected)
    engine.release()
    server.start()
    publish_rows(server, range(400, 600))
    wait_for(lambda: len(engine.samples) >= 600)
    assert [sample.time for sample in engine.samples] == micros(range(600)), "each exactly once"
    assert source.status().error == ""


def test_a_full_engine_stops_the_requests_and_goes_on_later(server, run, monkeypatch):
    monkeypatch.setattr("axonad.live.sources.handover.LIMIT", 100)
    make_stream(server)
    publish_rows(server, range(500))
    engine = FakeEngine("full")
    source = run(engine, server, fetch=20)
    wait_for(lambda: source.status().waiting >= 100 and engine.refusals > 20)
    assert source.status().waiting <= 200
    engine.mode = "store"
    wait_for(lambda: len(engine.samples) == 500)
    assert [sample.time for sample in engine.samples] == micros(range(500))


def test_messages_lost_on_the_way_are_asked_for_again(server, run):
    make_stream(server)
    engine = FakeEngine()
    source = run(engine, server)
    publish_rows(server, range(3))
    wait_for(lambda: len(engine.samples) == 3)
    take, lost = source._on_message, []

    async def lose_one(message):
        if message.reply and not lost:
            lost.append(message)
            return
        await take(message)

    source._on_message = lose_one
    do(server, lambda js: js.delete_consumer("FLEET", "axonad-live"))  # and subscribe again
    publish_rows(server, range(3, 9))
    wait_for(lambda: len(engine.samples) >= 9)
    assert lost
    assert [sample.time for sample in engine.samples] == micros(range(9))


def test_a_stream_that_was_made_anew_is_read_from_its_beginning(server, run, caplog):
    make_stream(server)
    publish_rows(server, range(3))
    engine = FakeEngine(positions={PLACE: 1_000})
    with caplog.at_level(logging.WARNING, logger="axonad.live"):
        run(engine, server)
        wait_for(lambda: len(engine.samples) == 3)
    assert "its last message is 3, but 1000 is stored already" in caplog.text
    assert engine.positions == {PLACE: 3}


def test_streams_that_cannot_be_used_are_refused(server, run):
    make_stream(server, retention="interest")
    source = run(FakeEngine(), server)
    wait_for(lambda: "retention policy interest" in source.status().error)


def test_password(tmp_path, run, monkeypatch):
    server = nats_server(tmp_path, "--user", "axonad", "--pass", "hunter2")
    monkeypatch.setenv("RIGHT", "hunter2")
    monkeypatch.setenv("WRONG", "hunter3")
    try:
        server.start()
        refused = run(FakeEngine(), server, username="axonad", password_env="WRONG")  # noqa: S106
        wait_for(lambda: "Authorization" in refused.status().error)
        assert "hunter" not in refused.status().error
        source = run(FakeEngine(), server, username="axonad", password_env="RIGHT")  # noqa: S106
        wait_for(lambda: source.status().is_connected)
    finally:
        server.close()


def test_thousands_of_damaged_messages(server, run):
    rng = random.Random(0)
    engine = FakeEngine()
    make_stream(server)
    source = run(engine, server)
    subjects = ["fleet.car", "fleet.car.speed", "fleet.é", "fleet." + "x" * 200, "fleet.a.b.c.d"]
    sizes = []
    for number in range(1, 5):
        publish(server, [(rng.choice(subjects), mutated(rng)) for _ in range(1_000)])
        wait_for(lambda n=number: source.status().messages == 1_000 * n)
        engine.stored.clear()
        sizes.append(resident_mebibytes())
    assert source.status().is_connected
    assert 500 < source.status().bad < 4_000
    assert sizes[-1] - sizes[1] < 50, sizes
    publish_rows(server, [5])
    wait_for(lambda: 5 * 10**6 in without_repeats(engine.samples))
