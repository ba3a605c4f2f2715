"""The tables of a store, by version. SQLite and PostgreSQL differ in a few types only.

A store says its version in the table ``meta``. An older one is brought to the newest version by
:data:`MIGRATIONS`, in one transaction; a newer one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from axonad.live.store.connections import Session
from axonad.live.store.contract import StoreError


@dataclass(frozen=True)
class Dialect:
    """What a kind of database calls its types."""

    name: str  # text ordered by code points, as Python orders it
    blob: str
    number: str  # a key that counts up
    has_meta: str  # a query: the number of tables called meta
    extra: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # by version


VERSION_1 = (
    "CREATE TABLE meta (name {name} PRIMARY KEY, value {name} NOT NULL)",
    "INSERT INTO meta VALUES ('number', '0'), ('owner', ''), ('model', '')",
    "CREATE TABLE vehicles (vehicle {name} PRIMARY KEY, state {blob} NOT NULL,"
    " last_time BIGINT NOT NULL)",
    "CREATE TABLE tails (number {number}, vehicle {name} NOT NULL, samples {blob} NOT NULL)",
    "CREATE INDEX tails_by_vehicle ON tails (vehicle, number)",
    "CREATE TABLE courses (number {number}, vehicle {name} NOT NULL, begins BIGINT NOT NULL,"
    " ends BIGINT NOT NULL, bytes BIGINT NOT NULL, data {blob} NOT NULL)",
    "CREATE INDEX courses_by_vehicle ON courses (vehicle, ends, begins)",
    "CREATE INDEX courses_by_age ON courses (ends, number)",
    "CREATE TABLE events (id {name} PRIMARY KEY, vehicle {name} NOT NULL, kind {name} NOT NULL,"
    " severity {name} NOT NULL, status {name} NOT NULL, begins BIGINT NOT NULL,"
    " ends BIGINT NOT NULL, changed BIGINT NOT NULL, detail {name} NOT NULL,"
    " acknowledged BIGINT NOT NULL, shelved BIGINT NOT NULL, comments {name} NOT NULL)",
    "CREATE INDEX events_by_begin ON events (begins, id)",
    "CREATE INDEX events_by_vehicle ON events (vehicle, begins, id)",
    "CREATE INDEX events_by_status ON events (status, begins, id)",
    "CREATE INDEX events_by_change ON events (changed)",
    "CREATE TABLE notices (number {number}, id {name} NOT NULL UNIQUE, event {name} NOT NULL,"
    " what {name} NOT NULL, record {name} NOT NULL)",
    "CREATE INDEX notices_by_event ON notices (event)",
    "CREATE TABLE sinks (sink {name} PRIMARY KEY, told BIGINT NOT NULL)",
    "CREATE TABLE confirmed (sink {name} NOT NULL, number BIGINT NOT NULL,"
    " PRIMARY KEY (sink, number))",
    "CREATE TABLE positions (source {name} PRIMARY KEY, position BIGINT NOT NULL)",
)

VERSION_2 = ("ALTER TABLE events ADD COLUMN sentence {name} NOT NULL DEFAULT ''",)

MIGRATIONS: list[tuple[str, ...]] = [VERSION_1, VERSION_2]
"""What makes version 1 of nothing, 2 of 1, and so on. Never change one that was released."""


def migrate(session: Session, dialect: Dialect, *, store: str) -> None:
    """Bring a store to the newest version; raise StoreError if it is newer than that."""
    version = _version(session, dialect)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{store} was written by a newer axonad (its version is {version}, this axonad knows "
            f"{len(MIGRATIONS)}); update axonad, or use another store"
        )
    if version == len(MIGRATIONS):
        return
    for number in range(version + 1, len(MIGRATIONS) + 1):
        for sql in (*MIGRATIONS[number - 1], *dialect.extra.get(number, ())):
            session.run(sql.format(name=dialect.name, blob=dialect.blob, number=dialect.number))
    session.run("DELETE FROM meta WHERE name = 'version'")
    session.run("INSERT INTO meta VALUES ('version', ?)", str(len(MIGRATIONS)))


def _version(session: Session, dialect: Dialect) -> int:
    """Return the version of a store; 0 if it is empty."""
    if not session.rows(dialect.has_meta)[0][0]:
        return 0
    return int(session.rows("SELECT value FROM meta WHERE name = 'version'")[0][0])
