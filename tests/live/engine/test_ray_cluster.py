"""Ray: the same events as in one process, also when an actor is killed, and no event twice."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from threading import Semaphore

import psutil
import pytest
import ray

from axonad.errors import ConfigError, MissingDependencyError
from axonad.live.config import Engine, Input, LiveConfig, Storing
from axonad.live.engine import ray_cluster
from axonad.live.engine.cluster import Cluster, with_absolute_paths
from axonad.live.engine.contract import UnavailableError
from axonad.live.engine.local import LocalEngine
from axonad.live.engine.partition import part_of, read_model
from axonad.live.engine.ray_cluster import RayEngine
from axonad.live.engine.status import describe_model
from axonad.live.inbox import OverloadError
from axonad.live.record import Action, EventQuery
from axonad.live.sample import Delivery
from axonad.live.store.choose import open_store
from axonad.live.store.contract import StoreError
from axonad.live.store.memory import MemoryStore
from tests.live.test_local_engine import same_events

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings
LONG = 120.0  # seconds after which a test is lost


@pytest.fixture(scope="module", autouse=True)
def quiet():
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def fleet(drives):
    """The drives under names that two actors share; "b" has a fault, "h" misses values."""
    a, b, c = drives.rows.values()
    return replace(drives, rows={"b": b, "g": a, "h": c})


@pytest.fixture(scope="module")
def model(live_detector, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    live_detector.save(folder)
    return describe_model(live_detector), read_model(folder)


def settings(folder, *, actors=2, **inputs):
    return LiveConfig(
        input=Input(commit_every="0s", max_ahead="1d", **inputs),
        store=Storing(url=f"sqlite:{folder}/live.db", snapshot_rows=40),
        engine=Engine(kind="ray", actors=actors),
    )


@pytest.fixture
def engine(cluster, model, tmp_path):
    made = RayEngine(*model, settings(tmp_path))
    made.start()
    yield made
    made.stop()


class Receipts:
    """Receipts in the order they come, and a way to wait for them."""

    def __init__(self):
        self.all = []
        self._come = Semaphore(0)

    def __call__(self, receipt):
        self.all.append(receipt)
        self._come.release()

    def wait(self, count):
        for _ in range(count):
            assert self._come.acquire(timeout=LONG), "a delivery was not answered"


def send(engine, samples, receipts, *, size=20):
    """Submit samples in deliveries of some size; return how many."""
    parts = [samples[first : first + size] for first in range(0, len(samples), size)]
    for part in parts:
        engine.submit(Delivery(part, "test", receipts), timeout=LONG)
    return len(parts)


@pytest.fixture(scope="module")
def expected(live_detector, fleet):
    """Events of all vehicles, and ids of what is told of them, in one process."""
    store, receipts = MemoryStore(), Receipts()
    engine = LocalEngine(live_detector, store, settings(""))
    engine.start()
    receipts.wait(send(engine, list(fleet.interleaved()), receipts))
    engine.stop()
    return all_events(store), told(store)


def all_events(engine):
    return [replace(event, changed=0) for event in engine.events(EventQuery(limit=1000))]


def told(*stores):
    return sorted(notice.id for store in stores for _, notice in store.notices("x", limit=10_000))


def actor_of(engine, vehicle):
    return engine._lanes[part_of(vehicle, len(engine._lanes))].actor


def test_an_actor_killed_in_the_middle_changes_no_event(engine, fleet, expected, tmp_path):
    samples, receipts = list(fleet.interleaved()), Receipts()
    assert {part_of(name, 2) for name in fleet.rows} == {0, 1}
    sent = send(engine, samples[:500], receipts)
    receipts.wait(sent)
    process = ray.get(actor_of(engine, "b").ready.remote())
    os.kill(process, signal.SIGKILL)  # "b" is in alarm
    sent = send(engine, samples[500:], receipts)
    receipts.wait(sent)
    assert not [receipt for receipt in receipts.all if receipt.error or receipt.refused]
    assert ray.get(actor_of(engine, "b").ready.remote()) != process
    same_events(all_events(engine), expected[0])
    assert engine.health().trouble == ""
    engine.stop()
    stores = [open_store(Storing(url=f"sqlite:{tmp_path}/live.db"), partition=n) for n in "01"]
    for number, store in enumerate(stores):
        store.start(model=f"{engine.model.fingerprint} part {number}/2")
    assert told(*stores) == expected[1]  # each once: ids are unique in a store, vehicles in a part
    for store in stores:
        store.close()


def test_a_machine_lost_in_the_middle_changes_no_event(
    cluster, model, fleet, expected, tmp_path, monkeypatch
):
    """With a store that all machines reach; here a file, as all machines are this one."""
    monkeypatch.setattr(Cluster, "_place", lambda self: "SPREAD")
    lost = cluster.add_node(num_cpus=1)
    spare = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    engine = RayEngine(*model, settings(tmp_path, actors=3))
    engine.start()
    samples, receipts = list(fleet.interleaved()), Receipts()
    receipts.wait(send(engine, samples[:500], receipts))
    cluster.remove_node(lost)
    receipts.wait(send(engine, samples[500:], receipts))
    assert not [receipt for receipt in receipts.all if receipt.error or receipt.refused]
    same_events(all_events(engine), expected[0])
    engine.stop()
    cluster.remove_node(spare)


def test_what_people_ask_and_do_is_answered_by_the_right_actor(engine, fleet, monkeypatch):
    none, mark = engine.changes(None, limit=100)
    receipts = Receipts()
    receipts.wait(send(engine, list(fleet.interleaved()), receipts))
    assert [status.vehicle for status in engine.vehicles()] == ["b", "g", "h"]
    assert engine.vehicle("b").rows == 400 and engine.vehicle("nobody") is None
    assert len(engine.recent("g", rows=50)) == 50
    first = engine.recent("g", rows=1000).times[0]
    assert len(engine.course("g", int(first), int(first) + 10_000_000, rows=1000)) == 100
    counts = engine.health().counts
    assert (counts["samples"], counts["rows"]) == (1200, 1200)  # what "h" misses is held
    events = engine.events(EventQuery(limit=100))
    assert [event.begins for event in events] == sorted((e.begins for e in events), reverse=True)
    assert len(engine.events(EventQuery(limit=1))) == 1
    told, later = engine.changes(mark, limit=100)
    assert none == [] and told == events
    assert engine.changes(later, limit=100) == ([], later)
    faulty = next(event for event in events if event.vehicle == "b")
    assert engine.act(faulty.id, Action("acknowledge")).acknowledged
    assert engine.event(faulty.id).acknowledged
    assert engine.event("none") is None and engine.act("none", Action("shelve")) is None

    monkeypatch.setattr(ray_cluster, "ANSWER", 1.0)
    process = psutil.Process(ray.get(actor_of(engine, "b").ready.remote()))
    process.suspend()
    try:
        health = engine.health()
        assert not health.is_ready and "1 of 2 parts of the fleet are away" in health.trouble
        states = {status.vehicle: status.state for status in engine.vehicles()}
        assert set(states) == {"b", "g", "h"} and states["b"] == "no data"
        present = {event.vehicle for event in engine.events(EventQuery(limit=100))}
        assert "b" not in present and present
        with pytest.raises(UnavailableError, match="part that is away"):
            engine.event(faulty.id)
        assert engine.changes(later, limit=100) == ([], later)
    finally:
        process.resume()
    assert engine.event(faulty.id).acknowledged and engine.health().is_ready


@pytest.mark.parametrize("rule", ["hold", "shed"])
def test_a_full_queue_takes_all_of_a_delivery_or_nothing(cluster, model, fleet, tmp_path, rule):
    engine = RayEngine(*model, settings(tmp_path, queue=200, overload=rule))
    engine.start()
    samples, receipts = list(fleet.interleaved()), Receipts()
    processes = [psutil.Process(ray.get(actor_of(engine, n).ready.remote())) for n in "bg"]
    for process in processes:
        process.suspend()
    sent = 0
    try:
        while sent < 20:  # one is being sent, the queue of 100 samples per actor takes the next
            engine.submit(Delivery(samples[sent * 60 : (sent + 1) * 60], "test", receipts))
            if receipts.all:
                break
            sent += 1
    except OverloadError:
        assert rule == "hold"
    finally:
        for process in processes:
            process.resume()
    assert 0 < sent < 20
    receipts.wait(sent + (rule == "shed"))
    assert sum(receipt.accepted for receipt in receipts.all) == 60 * sent
    assert engine.health().counts.get("shed", 0) == (60 if rule == "shed" else 0)
    assert engine.health().counts["samples"] == 60 * sent
    engine.stop()


def test_stopping_does_not_wait_for_an_actor_that_hangs(
    cluster, model, fleet, tmp_path, monkeypatch
):
    monkeypatch.setattr(ray_cluster, "STOPPING", (1.0, 1.0))
    engine = RayEngine(*model, settings(tmp_path))
    engine.start()
    receipts = Receipts()
    process = psutil.Process(ray.get(actor_of(engine, "b").ready.remote()))
    process.suspend()
    try:
        sent = send(engine, list(fleet.samples("b")), receipts)
        engine.stop()
    finally:
        if process.is_running():
            process.resume()
    receipts.wait(sent)
    assert all(receipt.error for receipt in receipts.all)  # the source sends them again


def test_a_store_of_another_number_of_actors_is_refused(cluster, model, fleet, tmp_path):
    samples, receipts = list(fleet.interleaved()), Receipts()
    engine = RayEngine(*model, settings(tmp_path, actors=1))
    engine.start()
    receipts.wait(send(engine, samples[:300], receipts))
    engine.stop()
    advice = r"written with 1 actors, this run has 2; start with --actors 1.*--new-model"
    with pytest.raises(StoreError, match=advice):
        RayEngine(*model, settings(tmp_path)).start()
    engine = RayEngine(*model, settings(tmp_path), new_model=True)
    engine.start()
    receipts.wait(send(engine, samples[:300], receipts))
    assert receipts.all[-1].accepted == 20
    os.kill(ray.get(actor_of(engine, "g").ready.remote()), signal.SIGKILL)
    receipts.wait(send(engine, samples[:300], receipts))  # its successor forgets nothing
    assert sum(receipt.accepted for receipt in receipts.all[-15:]) == 0
    engine.stop()


def test_a_cluster_that_is_not_there_or_too_small_is_named(cluster, model, tmp_path, monkeypatch):
    from axonad.live.engine import cluster as place

    monkeypatch.setattr(place, "START", 5.0)
    with pytest.raises(ConfigError, match=r"of 30 actors have not started.*has 2: add machines"):
        RayEngine(*model, settings(tmp_path, actors=30)).start()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    away = replace(settings(tmp_path).engine, address="nowhere")
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at 'nowhere' \(address of"):
        RayEngine(*model, replace(settings(tmp_path), engine=away)).start()


def test_without_ray_one_sentence_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'axonad\[ray\]'"):
        RayEngine(*model, settings(tmp_path)).start()


def test_actors_find_the_files_of_this_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = with_absolute_paths(
        LiveConfig(store=Storing(url="sqlite:live.db", password_file="secret"))  # noqa: S106
    )
    assert config.store.url == f"sqlite:{tmp_path}/live.db"
    assert config.store.password_file == f"{tmp_path}/secret"
    memory = LiveConfig(store=Storing(url="sqlite::memory:"))
    assert with_absolute_paths(memory) == memory
