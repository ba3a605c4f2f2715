from axonad.live.sample import Sample
from axonad.live.sources.handover import BATCH, LIMIT, Handover
from tests.live.sources.fake_engine import FakeEngine, wait_for


def sample(time):
    return Sample("a", time, {"x": 1.0})


def make(engine):
    return Handover(engine, "nats:FLEET", wake=lambda: None)


def test_what_arrives_meanwhile_becomes_the_next_delivery():
    engine = FakeEngine("withhold")
    handover = make(engine)
    handover.put([sample(0)], "m0", 10)
    assert handover.advance() == []
    handover.put([sample(1), sample(2)], "m1", 11)
    handover.put([], "bad", 12)
    handover.put([sample(3)], "m2", 13)
    assert handover.advance() == []
    assert handover.waiting == 4
    assert len(engine.withheld) == 1, "one delivery at a time"
    engine.release()
    assert handover.advance() == ["m0", "m1", "bad", "m2"]
    assert [delivery.position for delivery in engine.stored] == [
        ("nats:FLEET", 10),
        ("nats:FLEET", 13),
    ]
    assert [s.time for s in engine.samples] == [0, 1, 2, 3]
    assert handover.is_idle


def test_a_delivery_that_was_not_stored_is_offered_again_before_later_ones():
    engine = FakeEngine("fail")
    handover = make(engine)
    handover.put([sample(0)], "m0", 1)
    assert handover.advance() == []
    handover.put([sample(1)], "m1", 2)
    assert handover.advance() == []
    assert handover.error == "the database is away"
    engine.mode = "store"
    found = []
    wait_for(lambda: found.extend(handover.advance()) or found == ["m0", "m1"])
    assert [s.time for s in engine.samples] == [0, 1]
    assert handover.error == ""


def test_a_full_engine_is_asked_again_and_the_source_told_to_wait():
    engine = FakeEngine("full")
    handover = make(engine)
    for number in range(LIMIT + BATCH):
        handover.put([sample(number)], number)
    handover.advance()
    assert not handover.has_room
    assert handover.pause(100) < 1
    engine.mode = "store"
    found = []
    wait_for(lambda: found.extend(handover.advance()) or handover.is_idle)
    assert found == list(range(LIMIT + BATCH))
    assert max(len(delivery.samples) for delivery in engine.stored) <= BATCH
    assert handover.has_room


def test_only_messages_that_the_engine_does_not_have_are_forgotten():
    engine = FakeEngine("withhold")
    handover = make(engine)
    handover.put([sample(0)], "sent")
    handover.advance()
    handover.put([sample(1)], "again")
    handover.put([sample(2)], "once")
    handover.forget(lambda token: token != "once")  # noqa: S105
    engine.release()
    assert handover.advance() == ["sent", "once"]


def test_messages_without_samples_need_no_engine():
    handover = make(FakeEngine("full"))
    handover.put([], "bad")
    assert handover.advance() == ["bad"]
