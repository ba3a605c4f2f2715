import asyncio

import pytest

from axonad.errors import InputError
from axonad.live.inbox import OverloadError
from axonad.live.sources.http import LARGE, ContentTypeError, deliver
from tests.live.sources.fake_engine import FakeEngine

ONE = b'{"vehicle": "a", "x": 1}'


def send(engine, body, content_type="application/json", **options):
    return asyncio.run(deliver(engine, body, content_type=content_type, arrival=5, **options))


@pytest.mark.parametrize(
    ("body", "content_type", "count"),
    [
        (ONE, "application/json; charset=utf-8", 1),
        (ONE, "", 1),
        (ONE + b"\n" + ONE, "application/x-ndjson", 2),
        (b"[" + ONE + (b"," + ONE) * (LARGE // len(ONE)) + b"]", "application/json", None),
    ],
)
def test_a_request_is_answered_when_it_is_stored(body, content_type, count):
    engine = FakeEngine()
    receipt = send(engine, body, content_type)
    assert receipt.accepted == len(engine.samples) == (count or LARGE // len(ONE) + 1)
    assert engine.samples[0].time == 5


def test_a_bad_item_refuses_the_whole_request():
    engine = FakeEngine()
    with pytest.raises(InputError, match="item 2 of 2"):
        send(engine, b"[" + ONE + b', {"vehicle": "a"}]')
    with pytest.raises(ContentTypeError, match="got 'text/csv'"):
        send(engine, ONE, "text/csv")
    assert engine.samples == []


@pytest.mark.parametrize(
    ("mode", "words"),
    [("full", "full"), ("fail", "database is away"), ("withhold", "not stored after 0.01 s")],
)
def test_what_is_not_stored_is_an_overload(mode, words):
    engine = FakeEngine(mode)
    with pytest.raises(OverloadError, match=words):
        send(engine, ONE, longest=0.01)
    engine.release()  # a receipt that comes too late harms nobody
