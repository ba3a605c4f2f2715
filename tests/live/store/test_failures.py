"""What goes wrong with databases: killed, locked, full, removed, damaged, restarted, used twice."""

import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import pytest

from axonad.live.record import Action, EventQuery, EventRecord
from axonad.live.store.contract import Commit, StoreError, StoreUnavailableError, Tail
from axonad.live.store.postgres import PostgresSession

WRITER = """
import sys
from axonad.live.config import Storing
from axonad.live.record import EventRecord
from axonad.live.store.choose import open_store
from axonad.live.store.contract import Commit, Tail

store = open_store(Storing(url=sys.argv[1]), partition=sys.argv[2])
number = store.start(model="model")
while True:
    number += 1
    what = ("car", 1, "anomaly", "high", "resolved", number, 0, 0, 0, 0.0, ())
    event = EventRecord(f"e{number}", *what)
    tails = [Tail(name, b"%d " % number * 500) for name in ("car", "bus")]
    store.commit(Commit(number, tails=tails, events=[event], positions={"nats": number}))
    print(number, flush=True)
"""


def commit_of(number):
    return Commit(number, tails=[Tail("car", b"%d" % number)], positions={"nats": number})


def check_holds(store, numbers):
    assert store.saved("car").tails == tuple(b"%d" % number for number in numbers)
    assert store.position("nats") == numbers[-1]


@contextmanager
def fails(match, *, kind=StoreUnavailableError):
    with pytest.raises(kind, match=match) as caught:
        yield
    assert type(caught.value) is kind


def test_a_killed_writer_leaves_exactly_what_it_acknowledged(place):
    for acknowledged in (1, 4, 9):
        writer = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", WRITER, place.url, place.partition], stdout=subprocess.PIPE
        )
        for _ in range(acknowledged):
            line = writer.stdout.readline()
        writer.kill()
        rest = writer.stdout.read().split()
        writer.wait()
        writer.stdout.close()
        last = int(rest[-1] if rest else line)
        store = place.open(wait=10)
        number = store.start(model="model")
        assert number in (last, last + 1)
        assert store.position("nats") == number
        assert len(store.events(EventQuery(limit=10**6))) == number
        for vehicle in ("car", "bus"):
            tails = tuple(b"%d " % one * 500 for one in range(1, number + 1))
            assert store.saved(vehicle).tails == tails
        store.close()


def test_two_servers_do_not_share_a_store(place):
    first = place.start()
    with fails("is used by another axonad live", kind=StoreError):
        place.start()
    first.commit(commit_of(1))
    first.close()
    second = place.start()
    check_holds(second, [1])
    with fails("is closed"):
        first.commit(commit_of(2))


def test_a_server_that_lost_its_store_to_another_stops_writing(place):
    store = place.start()
    with store._db.writes() as session:  # as the start of another one would
        session.run("UPDATE meta SET value = 'other' WHERE name = 'owner'")
    with fails("was taken over by another axonad live; restart", kind=StoreError):
        store.commit(commit_of(1))


def test_a_locked_file_can_be_read_and_is_written_later(file_place):
    store = file_place.start()
    store.commit(commit_of(1))
    store.close()
    store = file_place.start()
    other = sqlite3.connect(store._db.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with fails("is locked by another program"):
        store.commit(commit_of(2))
    with fails("is locked by another program"):
        store.act("e", Action("acknowledge"))
    check_holds(store, [1])
    other.close()
    store.commit(commit_of(2))
    check_holds(store, [1, 2])


def test_a_full_disk_loses_nothing(file_place):
    store = file_place.start()
    store.commit(commit_of(1))
    pages = store._db._writer.execute("PRAGMA page_count").fetchone()[0]
    store._db._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    large = Commit(2, tails=[Tail("car", b"2"), *[Tail("bus", bytes(9000))] * 50])
    with fails("disk is full; free some space"):
        store.commit(large)
    check_holds(store, [1])
    store.commit(large)
    assert store.saved("car").tails == (b"1", b"2")
    assert len(store.saved("bus").tails) == 50


def test_a_file_that_became_read_only_is_said_so(file_place):
    store = file_place.start()
    store._db._writer.execute("PRAGMA query_only = 1")
    with fails("is read-only; make the file and its folder writable"):
        store.commit(commit_of(1))
    store.commit(commit_of(1))
    check_holds(store, [1])


def test_a_removed_file_takes_no_more_commits(file_place):
    store = file_place.start()
    store.commit(commit_of(1))
    aside = store._db.path.rename(store._db.path.with_name("aside.db"))
    with fails("was removed; put it back"):
        store.commit(commit_of(2))
    with fails("was removed; put it back"):
        store.saved("car")
    aside.rename(store._db.path)
    store.commit(commit_of(2))
    check_holds(store, [1, 2])


def test_files_that_are_no_store_are_refused(file_place):
    path = file_place.open()._db.path
    path.write_text("time,speed\n" * 1000)
    with fails("is not a SQLite database or is damaged", kind=StoreError):
        file_place.start()
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE meta (x)")
    other.close()
    with fails("is a database of another program", kind=StoreError):
        file_place.start()
    path.unlink()
    path.mkdir()
    with fails("is a folder; name a file", kind=StoreError):
        file_place.start()
    file_place.url = f"sqlite:{path.parent / 'missing' / 'live.db'}"
    with fails("folder of .* does not exist; create it", kind=StoreError):
        file_place.start()


def test_a_damaged_file_is_said_so(file_place):
    store = file_place.start()
    store.commit(Commit(1, tails=[Tail(f"car {i}", bytes(2000)) for i in range(100)]))
    store.close()
    data = bytearray(store._db.path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    store._db.path.write_bytes(data)
    with fails("is damaged; move it away and restore a copy", kind=StoreError):
        file_place.start()


def test_a_damaged_course_is_said_so(place):
    store = place.start()
    with store._db.writes() as session:
        session.run(
            "INSERT INTO courses (vehicle, begins, ends, bytes, data) VALUES ('car', 1, 2, 1, ?)",
            b"C1 and no more",
        )
    with fails("has a damaged course of 'car'", kind=StoreError):
        store.course("car", 0, 10, rows=5)


def end_connections(place):
    """End all connections to the database of a place, as a restart of the server does."""
    import psycopg

    with psycopg.connect(place.url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.live
def test_connections_that_end_between_commits_are_made_anew(server_place):
    store = server_place.start()
    store.commit(commit_of(1))
    check_holds(store, [1])
    end_connections(server_place)
    store.commit(commit_of(2))
    end_connections(server_place)
    check_holds(store, [1, 2])


@pytest.mark.live
@pytest.mark.parametrize("statement", ["UPDATE meta", "tails", "INSERT INTO positions"])
def test_a_connection_that_ends_within_a_commit_leaves_nothing_of_it(
    server_place, monkeypatch, statement
):
    store = server_place.start()
    store.commit(commit_of(1))

    def ending(method):
        def call(self, sql, *values):
            if sql.startswith(statement):
                end_connections(server_place)
            return method(self, sql, *values)

        return call

    with monkeypatch.context() as patch:
        for name in ("run", "many", "append"):
            patch.setattr(PostgresSession, name, ending(getattr(PostgresSession, name)))
        with fails("cannot be used at the moment: "):
            store.commit(commit_of(2))
    check_holds(store, [1])
    store.commit(commit_of(2))
    check_holds(store, [1, 2])


@pytest.mark.live
def test_a_commit_whose_answer_is_lost_is_stored_once(server_place):
    import psycopg

    class Deaf:
        """A connection that ends after a commit, before the answer comes."""

        def __init__(self, connection):
            self._connection = connection

        def execute(self, sql):
            self._connection.execute(sql)
            if sql == "COMMIT":
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        def __getattr__(self, name):
            return getattr(self._connection, name)

    store = server_place.start()
    store.commit(commit_of(1))
    store._db._writer = Deaf(store._db._writer)
    with fails("server closed the connection"):
        store.commit(commit_of(2))
    store.commit(commit_of(2))
    check_holds(store, [1, 2])


def test_an_event_changes_under_a_persons_actions(place):
    """What people did stays when the alarms change the event, also over a restart."""
    store = place.start()
    event = EventRecord("e", "car", 1, "anomaly", "high", "firing", 1, 2, 1, 1, 0.5, ("speed",))
    store.commit(Commit(1, events=[event]))
    store.act("e", Action("comment", "Ann", "seen", 3))
    store.act("e", Action("acknowledge", "Ann"))
    store.close()
    store = place.start()
    store.commit(Commit(2, events=[EventRecord(**{**vars(event), "status": "resolved"})]))
    found = store.event("e")
    assert (found.status, found.acknowledged, found.changed) == ("resolved", True, 2)
    assert found.comments == ({"time": 3, "author": "Ann", "text": "seen"},)
