"""SQLite and PostgreSQL answer as the store in memory does, whatever happens to them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from axonad.live.record import ACTIONS, Action, Course, EventQuery, EventRecord, Notice
from axonad.live.store.contract import Commit, Snapshot, Tail
from axonad.live.store.memory import MemoryStore

VEHICLES = st.sampled_from(["a", "ü", '"x', "nul\0"])
TIMES = st.integers(0, 60)
HUGE = 10**30


@st.composite
def courses(draw):
    times = np.array(sorted(draw(st.sets(TIMES, max_size=5))), dtype=np.int64)
    values = np.arange(2 * len(times), dtype="f4").reshape(-1, 2) + draw(st.integers(0, 9))
    values[values == 3] = np.nan
    return Course(times, values, values[:, 0] * 2, values[:, 1] > 4)


EVENTS = st.builds(
    EventRecord,
    id=st.sampled_from("pqrs"),
    vehicle=VEHICLES,
    number=st.integers(1, 3),
    kind=st.sampled_from(["anomaly", "data"]),
    severity=st.sampled_from(["low", "high"]),
    status=st.sampled_from(["firing", "resolved"]),
    begins=TIMES,
    ends=TIMES,
    fired=TIMES,
    peak=TIMES,
    score=st.sampled_from([0.1, 1e300, float("inf")]),
    channels=st.sampled_from([(), ("speed", "ü")]),
    reason=st.sampled_from(["", "nul\0 \ud800"]),
    final=st.booleans(),
)
QUERIES = st.builds(
    EventQuery,
    vehicle=st.sampled_from(["", "", "a", "b", "nul\0", "\ud800"]),
    kind=st.sampled_from(["", "", "data"]),
    severity=st.sampled_from(["", "", "high"]),
    status=st.sampled_from(["", "", "firing"]),
    acknowledged=st.sampled_from([None, None, True, False]),
    shelved=st.sampled_from([None, None, True, False]),
    since=st.one_of(st.none(), TIMES, st.just(-HUGE)),
    until=st.one_of(st.none(), TIMES, st.just(HUGE)),
    before=st.one_of(st.none(), st.tuples(TIMES, st.sampled_from("pst"))),
    changed_after=st.one_of(st.none(), st.integers(0, 9)),
    limit=st.sampled_from([0, 2, 100, HUGE]),
)
COMMITS = st.builds(
    Commit,
    number=st.just(0),
    tails=st.lists(st.builds(Tail, VEHICLES, st.binary(max_size=3)), max_size=4),
    snapshots=st.lists(
        st.builds(Snapshot, VEHICLES, st.binary(max_size=3), TIMES, st.none() | courses()),
        max_size=3,
    ),
    events=st.lists(EVENTS, max_size=4),
    notices=st.lists(
        st.builds(Notice, st.sampled_from("klmno"), st.sampled_from(["fired", "final"]), EVENTS),
        max_size=3,
    ),
    positions=st.dictionaries(st.sampled_from(["nats:F", "mqtt"]), st.integers(0, 2**62)),
)


class Twins(RuleBasedStateMachine):
    """Does the same to a store and to one in memory."""

    def __init__(self, place):
        super().__init__()
        place.other()
        self.place = place
        self.twin = MemoryStore()
        self.twin.start(model="model")
        self.model = "model"
        self.store = place.start()
        self.last = Commit(0)

    def teardown(self):
        self.place.close()

    @rule(commit=COMMITS)
    def commit(self, commit):
        self.last = replace(commit, number=self.last.number + 1)
        self.store.commit(self.last)
        self.twin.commit(self.last)

    @rule()
    def commit_again(self):
        """As after an answer that got lost."""
        self.store.commit(self.last)

    @rule()
    def reopen(self):
        self.store.close()
        self.store = self.place.open()
        assert self.store.start(model=self.model) == self.last.number

    @rule()
    def replace_model(self):
        self.model += "+"
        self.store.replace_model(self.model)
        self.twin.replace_model(self.model)

    @rule(query=QUERIES)
    def ask_for_events(self, query):
        assert self.store.events(query) == self.twin.events(query)

    @rule(query=QUERIES)
    def ask_page_by_page(self, query):
        everything = self.twin.events(replace(query, before=None, limit=1000))
        before, found = None, []
        while page := self.store.events(replace(query, before=before, limit=2)):
            found += page
            before = (page[-1].begins, page[-1].id)
        assert found == everything

    @rule(id=st.sampled_from("pqz"), what=st.sampled_from(ACTIONS), time=TIMES)
    def act(self, id, what, time):
        action = Action(what, "Ann", "looked\0 at \ud800 it", time)
        assert self.store.act(id, action) == self.twin.act(id, action)
        assert self.store.event(id) == self.twin.event(id)

    @rule(id=st.sampled_from("pqz"), sentence=st.sampled_from(["yaw\0 \ud800 is frozen", "ü"]))
    def put_sentence(self, id, sentence):
        self.store.put_sentence(id, sentence)
        self.twin.put_sentence(id, sentence)
        assert self.store.event(id) == self.twin.event(id)

    @rule(vehicle=VEHICLES, start=TIMES | st.just(-HUGE), end=TIMES | st.just(HUGE), rows=TIMES)
    def ask_for_course(self, vehicle, start, end, rows):
        found, wanted = (s.course(vehicle, start, end, rows=rows) for s in (self.store, self.twin))
        assert (found is None) == (wanted is None)
        for name in ("times", "values", "scores", "alarms") if wanted else ():
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))

    @rule(sink=st.sampled_from(["web", "mail"]), limit=st.integers(0, 3), skip=st.integers(0, 2))
    def tell(self, sink, limit, skip):
        told = [s.notices(sink, limit=limit) for s in (self.store, self.twin)]
        assert [one for _, one in told[0]] == [one for _, one in told[1]]
        for store, notices in zip((self.store, self.twin), told, strict=True):
            store.confirm(sink, [number for number, _ in notices[skip:]])

    @rule(now=st.integers(0, 90), keep=st.integers(0, 60), keep_events=st.integers(0, 60))
    def prune(self, now, keep, keep_events):
        ages = {"now": now, "keep": keep, "keep_events": keep_events, "max_size": 10**12}
        assert self.store.prune(**ages) == self.twin.prune(**ages)

    @invariant()
    def holds_the_same(self):
        everything = EventQuery(limit=1000)
        assert self.store.events(everything) == self.twin.events(everything)
        for sink in ("web", "mail"):
            told = [[n for _, n in s.notices(sink, limit=99)] for s in (self.store, self.twin)]
            assert told[0] == told[1]
        for since in (0, 30):
            assert self.store.vehicles(since=since) == self.twin.vehicles(since=since)
        for vehicle in self.twin.vehicles() | {"unknown": 0}:
            assert self.store.saved(vehicle) == self.twin.saved(vehicle)
        for source in ("nats:F", "mqtt", "other"):
            assert self.store.position(source) == self.twin.position(source)


def test_a_store_answers_as_the_one_in_memory(place):
    examples, steps = (15, 25) if place.kind == "sqlite" else (8, 30)
    run_state_machine_as_test(
        lambda: Twins(place),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_oldest_courses_go_when_the_store_is_too_large(place):
    store = place.start()
    rng = np.random.default_rng(0)
    for number in range(1, 61):
        values = rng.normal(size=(500, 4)).astype("f4")
        times = np.arange(500) + 1000 * number
        course = Course(times, values, values[:, 0], values[:, 0] > 0)
        store.commit(Commit(number, snapshots=[Snapshot("car", b"state", number, course)]))
    used, size = store._db.used(), store.size()
    ages = {"now": 0, "keep": 0, "keep_events": 0}
    assert store.prune(**ages, max_size=used) == 0
    deleted = store.prune(**ages, max_size=used // 2)
    assert 25 <= deleted <= 45
    assert store._db.used() <= used // 2
    left = store.course("car", 0, 10**6, rows=10**6)
    assert left.times[0] == 1000 * (deleted + 1)
    assert len(left) == 500 * (60 - deleted)
    assert store.saved("car").state == b"state"
    if place.kind == "sqlite":
        store.close()  # writes the log into the file
        assert store.size() < 0.7 * size


def test_readers_see_the_state_before_a_commit_that_runs(place):
    store = place.start()
    store.commit(Commit(1, tails=[Tail("car", b"1")]))
    with store._db.writes() as session:
        session.run("DELETE FROM tails")
        assert store.saved("car").tails == (b"1",)
    assert store.saved("car") is None


def test_partitions_are_apart(place):
    stores = []
    for number in range(2):
        place.other()
        stores.append(place.start(model=f"model {number}"))
    stores[0].commit(Commit(1, tails=[Tail("car", b"1")]))
    assert stores[1].saved("car") is None


def test_readers_in_other_threads_see_whole_commits(place):
    """A state always comes with exactly the tails since; readers go on while commits run."""
    store = place.start()
    store.commit(Commit(1, snapshots=[Snapshot("car", b"1", 1)]))
    done = Event()

    def read():
        seen = 0
        while not done.is_set() or not seen:
            saved = store.saved("car")
            numbers = [int(saved.state), *map(int, saved.tails)]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            seen += 1
        return seen

    with ThreadPoolExecutor(12) as threads:
        readers = [threads.submit(read) for _ in range(12)]  # more than there are connections
        for number in range(2, 60):
            data = b"%d" % number
            if number % 4:
                store.commit(Commit(number, tails=[Tail("car", data)]))
            else:
                store.commit(Commit(number, snapshots=[Snapshot("car", data, number)]))
        done.set()
        assert all(reader.result() for reader in readers)
    assert store.saved("car").tails == (b"57", b"58", b"59")
