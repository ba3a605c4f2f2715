"""What open pages are told: only changes, worked out once, and nobody waits for a slow one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import orjson

from axonad.live.web.feed import MOST_WAITING, Client, Feed, to_message
from axonad.live.web.fleet_topic import FleetTopic
from axonad.live.web.vehicle_topic import VehicleTopic
from tests.live.web.fake_engine import FakeEngine, band


def test_the_fleet_tells_only_what_changed():
    engine = FakeEngine(["a", "b", "c"])
    topic = FleetTopic(engine, started="x")
    assert topic.whole()["counts"]["ok"] == 3
    engine.drive("b")  # right after the page was made
    news = topic.news()
    assert [row[0] for row in news["rows"]] == ["b"] and not news["moved"]
    engine.change("c", state="alarm")
    event = engine.fire("c")
    news = topic.news()
    assert news["moved"] and news["counts"]["alarm"] == 1
    assert news["events"] == [{"id": event.id, "vehicle": "c"}]
    engine.current = replace(engine.current, trouble="gone")
    assert topic.news()["trouble"] == "gone"
    del engine.known["a"]
    assert topic.news()["moved"]
    assert topic.news() is None


def test_a_vehicle_tells_only_new_rows():
    engine = FakeEngine(["a"])
    topic = VehicleTopic(engine, "a", band, search="yaw", started="x")
    whole = topic.whole()
    assert whole["rows"]["n"] == 300 and len(whole["rows"]["curves"]) == 1
    engine.drive("a", 7)
    assert topic.news()["rows"]["n"] == 7
    assert topic.news() is None
    engine.change("a", state="drift")
    assert topic.news()["state"] == "drift"
    orjson.dumps(whole)


def test_all_clients_share_one_look_and_leave_it():
    engine, looks = FakeEngine(["a"]), []

    class Counted(FleetTopic):
        def news(self):
            looks.append(1)
            return super().news()

    async def run():
        feed = Feed(every=0.01)
        await feed.start()
        streams = [
            await feed.subscribe("fleet", lambda: Counted(engine, started="x")) for _ in range(20)
        ]
        engine.change("a", state="alarm")
        heard = [await _first_with(stream, b'"alarm":1') for stream in streams]
        assert len(set(heard)) == 1
        assert feed.clients == 20
        for stream in streams[1:]:
            await stream.aclose()
        assert feed.clients == 1
        feed.tell_of(engine.fire("a"))
        assert b'"vehicle":"a"' in await _first_with(streams[0], b"event: event")
        await feed.stop()
        assert [message async for message in streams[0]][-1:] in ([], [to_message("tick", {})])
        return feed.clients

    assert asyncio.run(asyncio.wait_for(run(), 60)) == 0


def test_a_client_that_does_not_keep_up_starts_over():
    async def run():
        client = Client()
        for number in range(3 * MOST_WAITING + 1):
            client.put(to_message("news", {"n": number}))
        client.close()
        return [message async for message in client.messages()]

    messages = asyncio.run(run())
    assert len(messages) <= 1 + MOST_WAITING
    assert messages[1] == to_message("reset", {})


def test_a_stream_ends_once_its_client_is_no_longer_allowed():
    async def run():
        allowed = [True]
        client = Client(lambda: bool(allowed))
        client.put(to_message("news", {}))
        stream = client.messages()
        heard = [await anext(stream), await anext(stream)]
        allowed.clear()
        client.put(to_message("news", {}))
        return heard + [message async for message in stream]

    assert asyncio.run(run())[2:] == []


async def _first_with(stream, part):
    async for message in stream:
        if part in message:
            return message
    raise AssertionError("the stream ended")
