"""The engine in one process: live equals batch, and nothing is lost or told twice."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.live.clock import ServerClock
from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.inbox import OverloadError
from axonad.live.record import Action, EventQuery
from axonad.live.sample import Delivery, Sample
from axonad.live.store.contract import Commit, Snapshot, StoreUnavailableError
from axonad.live.store.memory import MemoryStore
from axonad.live.watch import Watch

CONFIG = LiveConfig(input=Input(commit_every="0s", max_ahead="1d"), store=Storing(snapshot_rows=40))


def run(watch, store, samples, size):
    """Score samples in deliveries of some size, each round committed; yield after each."""
    number = store.start(model="m")
    for first in range(0, len(samples), size):
        work = watch.take([Delivery(samples[first : first + size], "test")])
        number += 1
        store.commit(watch.commit(work, number=number))
        yield work


def outcome(store):
    events = store.events(EventQuery(limit=1000))
    told = [notice.id for _, notice in store.notices("x", limit=10_000)]
    return [replace(event, changed=0) for event in events], sorted(told)


def same_events(left, right):
    assert [replace(e, score=0.0) for e in left] == [replace(e, score=0.0) for e in right]
    np.testing.assert_allclose([e.score for e in left], [e.score for e in right], rtol=1e-4)


def test_events_and_scores_equal_those_of_the_file(live_detector, drives):
    store, watch = MemoryStore(), Watch(live_detector, CONFIG.input, snapshot_rows=100)
    list(run(watch, store, list(drives.interleaved()), 50))
    for name, rows in drives.rows.items():
        if np.isnan(rows).any():
            continue
        expected = live_detector.events(rows)
        found = store.events(EventQuery(vehicle=name, kind="anomaly"))[::-1]
        assert len(found) == len(expected) and (name != "b" or found)
        for record, event in zip(found, expected, strict=True):
            assert record.begins == 1_700_000_000_000_000 + event.start * 100_000
            assert record.channels == event.channels
        told = [n.what for _, n in store.notices("x", limit=99) if n.event.vehicle == name]
        assert told == ["fired", "resolved"] * len(store.events(EventQuery(vehicle=name)))
        scores = live_detector.decision_function(rows)
        course = watch.vehicles[name].recent.course(1000)
        known = np.isfinite(course.scores)
        np.testing.assert_allclose(course.scores[known], scores[known], rtol=1e-3, atol=1e-3)


@pytest.fixture(scope="module")
def unbroken(live_detector, drives):
    store, watch = MemoryStore(), Watch(live_detector, CONFIG.input, snapshot_rows=40)
    list(run(watch, store, list(drives.interleaved()), 64))
    return outcome(store)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 200), st.integers(0, 1199), st.integers(0, 100))
def test_a_crash_at_any_commit_changes_nothing(live_detector, drives, unbroken, size, crash, again):
    samples = list(drives.interleaved())
    store = MemoryStore()
    watch = Watch(live_detector, CONFIG.input, snapshot_rows=40)
    done = 0
    for _ in run(watch, store, samples, size):
        done += size
        if done > crash:
            break
    watch = Watch(live_detector, CONFIG.input, snapshot_rows=40)
    watch.resume({name: store.saved(name) for name in store.vehicles()})
    list(run(watch, store, samples[max(0, done - again) :], 31))  # some are sent again
    same_events(outcome(store)[0], unbroken[0])
    assert outcome(store)[1] == unbroken[1]


class Receipts:
    def __init__(self):
        self.all = []

    def __call__(self, receipt):
        self.all.append(receipt)


def test_the_engine_answers_after_the_commit_and_resumes(live_detector, drives):
    store, receipts = MemoryStore(), Receipts()
    samples = list(drives.interleaved())
    engine = LocalEngine(live_detector, store, CONFIG)
    engine.start()
    engine.submit(Delivery(samples[:600], "test", receipts, position=("s", 7)))
    engine.stop()
    assert receipts.all[0].accepted == 600 and store.position("s") == 7
    engine = LocalEngine(live_detector, store, CONFIG)
    engine.start()
    engine.submit(Delivery(samples[500:], "test", receipts))
    engine.stop()
    assert receipts.all[1].refused["late"] + receipts.all[1].refused.get("duplicate", 0) == 100
    plain = MemoryStore()
    list(run(Watch(live_detector, CONFIG.input), plain, samples, 1200))
    same_events(outcome(store)[0], outcome(plain)[0])
    event = engine.events(EventQuery(vehicle="b"))[0]
    assert engine.act(event.id, Action("acknowledge")).acknowledged


class Broken(MemoryStore):
    """A store that is gone for the first tries."""

    tries = 3

    def commit(self, commit):
        self.tries -= 1
        if self.tries >= 0:
            raise StoreUnavailableError("the database is gone")
        super().commit(commit)


def test_a_store_that_is_gone_for_a_while_loses_nothing(live_detector, drives):
    store, receipts = Broken(), Receipts()
    engine = LocalEngine(live_detector, store, CONFIG)
    engine.start()
    engine.submit(Delivery(list(drives.interleaved()), "test", receipts))
    while not receipts.all:
        engine._stopping.wait(0.01)
    assert receipts.all[0].accepted == 1200
    assert engine.health().trouble == ""
    engine.stop()


@pytest.mark.parametrize("rule", ["hold", "shed"])
def test_a_full_queue_holds_or_sheds(live_detector, rule):
    settings = replace(CONFIG.input, queue=1, overload=rule)
    engine = LocalEngine(live_detector, MemoryStore(), replace(CONFIG, input=settings))
    sample, receipts = Sample("a", 1, {"speed": 1.0}), Receipts()
    engine.submit(Delivery([sample], "test", receipts))  # not started: nothing is taken
    if rule == "hold":
        with pytest.raises(OverloadError, match="1 samples are waiting"):
            engine.submit(Delivery([sample], "test", receipts))
    else:
        engine.submit(Delivery([sample], "test", receipts))
        assert receipts.all[0].refused == {"shed": 1}


def test_samples_that_do_not_fit_are_counted(live_detector):
    watch = Watch(live_detector, Input(max_ahead="10s"))
    now = round(watch.clock.now() * 1e6)
    full = {"speed": 1.0, "yaw_rate": 1.0, "steering": 1.0}
    samples = [
        Sample("a", now + 60_000_000, full),
        Sample("a", now, full | {"other": 1.0}),
        Sample("a", now, full),
        Sample("a", now - 1, full),
        Sample("a", now + 60_000_000, full),
        Sample("a", now + 1, {"other": 1.0}),
    ]
    receipt = watch.take([Delivery(samples, "test")]).receipts[0][1]
    assert receipt.accepted == 1
    assert receipt.refused == {"future": 2, "late": 2, "no known channel": 1}


def test_vehicles_leave_memory_and_come_back(live_detector, drives):
    store = MemoryStore()
    samples = list(drives.samples("b"))
    engine = LocalEngine(live_detector, store, CONFIG)
    engine.start()
    receipts = Receipts()
    engine.submit(Delivery(samples[:170], "test", receipts))
    while not receipts.all:
        engine._stopping.wait(0.01)
    engine.stop()
    engine = LocalEngine(live_detector, store, replace(CONFIG, input=replace(CONFIG.input)))
    engine.start()  # the samples are of 2023: the vehicle stays in the store until it sends
    assert engine.vehicle("b").state == "no data" and engine.recent("b", rows=10) is None
    engine.submit(Delivery(samples[170:], "test", receipts))
    engine.stop()
    plain = MemoryStore()
    list(run(Watch(live_detector, CONFIG.input), plain, samples, 1200))
    same_events(outcome(store)[0], outcome(plain)[0])


def test_what_people_are_told_is_one_beginning_and_one_end(live_detector, drives):
    """Between them an event may end and begin again within the merge gap."""
    store, watch = MemoryStore(), Watch(live_detector, CONFIG.input, snapshot_rows=40)
    list(run(watch, store, list(drives.interleaved()), 7))
    notices = [notice for _, notice in store.notices("x", limit=10_000)]
    assert {notice.what for notice in notices} == {"fired", "resolved"}
    for notice in notices:
        assert notice.event.status == ("firing" if notice.what == "fired" else "resolved")
    final = {n.event.id: n.event for n in notices if n.what == "resolved"}
    for event in store.events(EventQuery(status="resolved")):
        assert replace(event, changed=0) == final[event.id]


def test_a_poisoned_vehicle_does_not_harm_others(live_detector, drives):
    samples = list(drives.interleaved())
    huge = {"speed": 1.7e308, "yaw_rate": -1.7e308, "steering": 1.7e308}
    poisoned = [
        Sample("poison", sample.time, huge if number % 9 else dict(sample.values))
        for number, sample in enumerate(drives.samples("a"))
    ]
    results = []
    for extra in ([], poisoned):
        store = MemoryStore()
        for part in (slice(0, 200), slice(200, 400)):  # a restart between
            engine, receipts = LocalEngine(live_detector, store, CONFIG), Receipts()
            engine.start()
            mixed = samples[3 * part.start : 3 * part.stop] + extra[part]
            engine.submit(Delivery(sorted(mixed, key=lambda s: s.time), "test", receipts))
            engine.stop()
            assert receipts.all[0].accepted == len(mixed)
        events = [e for e in outcome(store)[0] if e.vehicle != "poison"]
        results.append((events, [store.course(name, 0, 2**62, rows=500) for name in "abc"]))
    assert engine.health().counts["rows refused"] > 50
    assert results[0][0] == results[1][0]
    for left, right in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_array_equal(left.scores, right.scores)


class Faulty(Watch):
    """A watch with a bug: vehicle "b" makes it fail."""

    def _accept(self, sample, work, now):
        if sample.vehicle == "b" and sample.time % 1_000_000 == 0:
            raise ZeroDivisionError
        return super()._accept(sample, work, now)


def test_a_failing_round_loses_the_samples_of_the_failing_vehicle_only(
    live_detector, drives, monkeypatch
):
    samples, store, receipts = list(drives.interleaved()), MemoryStore(), Receipts()
    monkeypatch.setattr("axonad.live.engine.local.Watch", Faulty)
    engine = LocalEngine(live_detector, store, CONFIG)
    engine.start()
    for first in range(0, 1200, 150):
        place = ("s", first)
        engine.submit(Delivery(samples[first : first + 150], "test", receipts, position=place))
    engine.stop()
    assert sum(receipt.accepted for receipt in receipts.all) == 800
    assert [receipt.refused for receipt in receipts.all] == [{"failed": 50}] * 8
    assert store.position("s") == 1050 and engine.health().counts["samples"] == 800
    plain = MemoryStore()
    list(run(Watch(live_detector, CONFIG.input), plain, samples, 1200))
    same_events(
        [event for event in outcome(store)[0] if event.vehicle != "b"],
        [event for event in outcome(plain)[0] if event.vehicle != "b"],
    )


class Absent(MemoryStore):
    """A store that cannot be read for a while once the server runs."""

    tries = 0

    def saved(self, vehicle):
        self.tries -= 1
        if self.tries >= 0:
            raise StoreUnavailableError("the database is gone")
        return super().saved(vehicle)


def test_a_vehicle_comes_back_from_a_store_that_cannot_be_read_for_a_while(live_detector, drives):
    store, receipts, samples = Absent(), Receipts(), list(drives.samples("b"))
    for number, part in enumerate((samples[:170], samples[170:]), start=1):
        engine = LocalEngine(live_detector, store, CONFIG)
        engine.start()
        store.tries = 3
        engine.submit(Delivery(part, "test", receipts))
        while len(receipts.all) < number:
            engine._stopping.wait(0.01)
        engine.stop()
    assert [receipt.accepted for receipt in receipts.all] == [170, 230]


def test_a_damaged_state_costs_one_vehicle_its_past(live_detector, drives, caplog):
    store, receipts, samples = MemoryStore(), Receipts(), list(drives.interleaved())
    for part in (samples[:600], samples[600:]):
        engine = LocalEngine(live_detector, store, CONFIG)
        engine.start()
        engine.submit(Delivery(part, "test", receipts))
        engine.stop()
        state = store.saved("a")
        store.commit(
            Commit(store.start(model=engine.owner) + 1, snapshots=[Snapshot("a", b"?", 1)])
        )
        assert state.state != b"?"
    assert [receipt.accepted for receipt in receipts.all] == [600, 600]
    assert engine.health().counts["states lost"] == 1
    assert "vehicle 'a' begins anew" in caplog.text


def test_events_of_a_lost_state_end_and_what_goes_on_is_told_anew(live_detector, drives):
    store, receipts, samples = MemoryStore(), Receipts(), list(drives.samples("b"))
    for part in (samples[:170], samples[170:]):  # the fault is in rows 150 to 199
        engine = LocalEngine(live_detector, store, CONFIG)
        engine.start()
        engine.submit(Delivery(part, "test", receipts))
        engine.stop()
        last = Snapshot("b", b"?", part[-1].time)
        store.commit(Commit(store.start(model=engine.owner) + 1, snapshots=[last]))
    lost, anew = store.events(EventQuery(vehicle="b", kind="anomaly"))[::-1]
    assert (lost.number, anew.number) == (1, 1) and lost.id != anew.id
    assert lost.begins == samples[150].time and anew.begins == samples[170].time
    assert (lost.status, lost.final, anew.final) == ("resolved", True, True)
    told = [(n.event.id, n.what) for _, n in store.notices("x", limit=9)]
    assert told == [(one.id, what) for one in (lost, anew) for what in ("fired", "resolved")]


class JumpingClock(ServerClock):
    """A clock that is somewhere within three days of the right time."""

    offset = 0.0

    def now(self):
        return super().now() + self.offset


def test_jumps_of_the_server_clock_change_nothing(live_detector, drives):
    samples, outcomes = list(drives.interleaved()), []
    recent = round(time.time() * 1e6) - samples[-1].time
    samples = [replace(sample, time=sample.time + recent) for sample in samples]
    for jumps in (0, 20):
        store, clock, rng = MemoryStore(), JumpingClock(), np.random.default_rng(0)
        config = replace(CONFIG, input=replace(CONFIG.input, max_ahead="10s"))
        engine = LocalEngine(live_detector, store, config, clock=clock)
        engine.start()
        for first in range(0, 1200, 60):
            receipts = Receipts()
            engine.submit(Delivery(samples[first : first + 60], "test", receipts))
            while not receipts.all:
                engine._stopping.wait(0.001)
            assert receipts.all[0].accepted == 60
            clock.offset = rng.uniform(-3, 3) * 86_400 if jumps else 0.0
            engine._cleaned = -1e9  # housekeeping comes with every round
        engine.stop()
        outcomes.append(outcome(store))
    same_events(outcomes[0][0], outcomes[1][0])
    assert outcomes[0][1] == outcomes[1][1]
