"""Stores of other versions: the first one with all it held, newer ones, a migration that fails."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from axonad.live.record import EventQuery
from axonad.live.store import postgres, schema, sqlite
from axonad.live.store.contract import Commit, StoreError, Tail

VERSION_1 = Path(__file__).with_name("version_1.sql").read_text(encoding="utf-8")


def statements(dialect, hex_mark):
    text = VERSION_1.replace("{hex}", hex_mark)
    for name in ("name", "blob", "number"):
        text = text.replace(f"{{{name}}}", getattr(dialect, name))
    return text.split(";\n")


def database_of(place):
    """A plain connection to the database of a place."""
    if place.kind == "sqlite":
        path = place.open()._db.path
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA application_id = {sqlite.APPLICATION}")
        return connection
    import psycopg

    name = place.open()._db.schema
    connection = psycopg.connect(place.url, autocommit=True)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    connection.execute(f"SET search_path = {name}")
    return connection


@pytest.fixture
def old(place):
    """A connection to a store of version 1."""
    connection = database_of(place)
    mark = {"sqlite": (sqlite.DIALECT, "X'"), "postgres": (postgres.DIALECT, "'\\x")}[place.kind]
    for sql in ("BEGIN", *statements(*mark), "COMMIT"):
        connection.execute(sql)
    yield connection
    connection.close()


def version(connection):
    return connection.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()[0]


def test_a_store_of_version_1_keeps_all_it_held(place, old, monkeypatch):
    more = ("ALTER TABLE vehicles ADD COLUMN note {name}", "UPDATE vehicles SET note = 'old'")
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, more])
    store = place.open()
    assert store.start(model="model") == 7
    assert version(old) == str(len(schema.MIGRATIONS))
    assert old.execute("SELECT note FROM vehicles").fetchone() == ("old",)
    assert store.saved("car").state == b"state"
    assert store.saved("car").tails == (b"1", b"2")
    assert store.position("nats:FLEET") == 17
    (event,) = store.events(EventQuery())
    assert event == store.event("e")
    assert (event.score, event.acknowledged, event.comments[0]["text"]) == (2.5, True, "seen")
    assert event.sentence == ""
    store.put_sentence("e", "speed is frozen")
    assert store.event("e").sentence == "speed is frozen"
    assert [notice.id for _, notice in store.notices("web", limit=5)] == ["e fired 12"]
    assert store.notices("mail", limit=5) == []
    course = store.course("car", 0, 100, rows=10)
    np.testing.assert_array_equal(course.values, [[1, 2], [3, 4]])
    store.commit(Commit(8, tails=[Tail("car", b"3")]))
    assert store.saved("car").tails == (b"1", b"2", b"3")


def test_a_migration_that_fails_leaves_the_store_as_it_was(place, old, monkeypatch):
    broken = ("DELETE FROM vehicles", "ALTER TABLE nothing ADD COLUMN note {name}")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, broken])
        with pytest.raises(StoreError, match="nothing"):
            place.start()
    assert version(old) == "1"
    assert place.start().saved("car").state == b"state"


def test_a_newer_store_is_refused(place, old):
    old.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
    with pytest.raises(StoreError, match=r"newer axonad \(its version is 99, .*update axonad"):
        place.start()


def test_the_first_version_is_never_changed(place, old):
    """A store made today has the tables of the recorded one, as long as there is one version."""
    place.other()
    place.start()
    new = database_of(place)
    try:
        for table in ("meta", "vehicles", "tails", "courses", "events", "notices", "positions"):
            columns = [
                [one[0] for one in c.execute(f"SELECT * FROM {table}").description]  # noqa: S608
                for c in (old, new)
            ]
            assert columns[0] == columns[1][: len(columns[0])]
    finally:
        new.close()


def test_the_states_of_another_model_are_not_used(place):
    place.start(model="old model").commit(Commit(1, tails=[Tail("car", b"1")]))
    place.close()
    store = place.open()
    with pytest.raises(StoreError, match=r"another model \(old model, this one is new model\)"):
        store.start(model="new model")
    store.replace_model("new model")
    assert store.start(model="new model") == 1
    assert store.saved("car") is None
