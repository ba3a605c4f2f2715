"""A store in tables, for SQLite and PostgreSQL alike."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from axonad.live.packing import pack_course, unpack_course
from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, Notice
from axonad.live.store import event_rows
from axonad.live.store.connections import Database, Session
from axonad.live.store.contract import Commit, Saved, Snapshot, StoreError
from axonad.live.store.event_rows import LARGEST, clamp, from_key, to_key
from axonad.live.store.memory import acted, join_courses
from axonad.live.store.owners import refuse
from axonad.live.store.pruning import delete_courses, prune
from axonad.live.store.schema import Dialect, migrate

COURSES = {"vehicle": "text", "begins": "int8", "ends": "int8", "bytes": "int8", "data": "bytea"}


class SqlStore:
    """Keeps everything in a database; see the contract for what the methods do.

    Parameters
    ----------
    database
        Connections to it.
    dialect
        What it calls its types.

    """

    def __init__(self, database: Database, *, dialect: Dialect) -> None:
        self._db = database
        self._dialect = dialect
        self._owner = secrets.token_hex(8)

    def start(self, *, model: str) -> int:
        """Open or create it for a model; return the number of the last commit."""
        try:
            self._open()
            with self._db.writes() as session:
                known = _meta(session)
                if known["model"] not in ("", model):
                    raise refuse(self._db.name, holds=known["model"], wanted=model)
                _set_meta(session, model=model, owner=self._owner)
            return int(known["number"])
        except StoreError:
            self._db.close()
            raise

    def replace_model(self, model: str) -> None:
        """Forget states and courses and belong to another model; nothing if it is this one's."""
        self._open()
        with self._db.reads() as session:
            if _meta(session)["model"] == model:
                return
        delete_courses(self._db, before=LARGEST)
        with self._db.writes() as session:
            session.run("DELETE FROM tails")
            session.run("DELETE FROM vehicles")
            _set_meta(session, model=model, owner=self._owner)

    def commit(self, commit: Commit) -> None:
        """Store all of a commit, or nothing."""
        courses = [_course_row(one, one.course) for one in commit.snapshots if one.course]
        with self._db.writes() as session:
            known = _meta(session)
            if known["owner"] != self._owner:
                raise StoreError(
                    f"{self._db.name} was taken over by another axonad live; restart this one"
                )
            if commit.number <= int(known["number"]):
                return
            _set_meta(session, number=str(commit.number))
            _write_states(session, commit)
            session.append("courses", COURSES, courses)
            events = [event_rows.to_row(one, changed=commit.number) for one in commit.events]
            session.many(event_rows.UPSERT, events)
            session.many(
                "INSERT INTO notices (id, event, what, record) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (id) DO NOTHING",
                [_notice_row(one) for one in commit.notices],
            )
            session.many(
                "INSERT INTO positions (source, position) VALUES (?, ?)"
                " ON CONFLICT (source) DO UPDATE SET position = excluded.position",
                [(to_key(source), number) for source, number in commit.positions.items()],
            )

    def close(self) -> None:
        """Give up connections, and let another server use it."""
        self._db.close()

    def saved(self, vehicle: str) -> Saved | None:
        """Return the state of a vehicle; None if it is not known."""
        key = to_key(vehicle)
        with self._db.reads() as session:
            states = session.rows("SELECT state, last_time FROM vehicles WHERE vehicle = ?", key)
            found = session.rows("SELECT samples FROM tails WHERE vehicle = ? ORDER BY number", key)
        tails = tuple(bytes(samples) for (samples,) in found)
        if states:
            return Saved(bytes(states[0][0]), tails, states[0][1])
        return Saved(None, tails, 0) if tails else None

    def vehicles(self, *, since: Micros = 0) -> dict[str, Micros]:
        """Return known vehicles that sent since a time, and the time of their last snapshot."""
        with self._db.reads() as session:
            times = dict(session.rows("SELECT vehicle, last_time FROM vehicles"))
            tailed = [key for (key,) in session.rows("SELECT DISTINCT vehicle FROM tails")]
        found = {key: time for key, time in times.items() if time >= since}
        found |= {key: times.get(key, 0) for key in tailed}
        return {from_key(key): time for key, time in found.items()}

    def position(self, source: str) -> int | None:
        """Return the last committed position in a source."""
        with self._db.reads() as session:
            sql = "SELECT position FROM positions WHERE source = ?"
            found = session.rows(sql, to_key(source))
        return int(found[0][0]) if found else None

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first by their begin, then by id."""
        sql, values = event_rows.select(query)
        with self._db.reads() as session:
            return [event_rows.from_row(row) for row in session.rows(sql, *values)]

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""
        with self._db.reads() as session:
            return _event(session, id)

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action; return the event as it is then, None if it is not known."""
        with self._db.writes() as session:
            event = _event(session, id)
            if event is None:
                return None
            # by way of a row: what is stored is what is returned
            changed = replace(event, **acted(event, action))
            row = event_rows.to_row(changed, changed=event.changed)
            sql = "UPDATE events SET acknowledged = ?, shelved = ?, comments = ? WHERE id = ?"
            session.run(sql, *row[-3:], to_key(id))
            return event_rows.from_row(row)

    def put_sentence(self, id: str, sentence: str) -> None:
        """Store the sentence of an event, if the event is known."""
        with self._db.writes() as session:
            sql = "UPDATE events SET sentence = ? WHERE id = ?"
            session.run(sql, to_key(sentence), to_key(id))

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the rows of snapshots in ``[start, end)``, at most the first ``rows``."""
        start, end = clamp(start), clamp(end)
        parts: list[Course] = []
        with self._db.reads() as session:
            blocks = session.rows(
                "SELECT number, begins FROM courses WHERE vehicle = ? AND ends >= ? AND begins < ?"
                " ORDER BY begins, number",
                to_key(vehicle),
                start,
                end,
            )
            found = 0  # rows in the range; enough are enough, unless courses overlap
            for number, begins in blocks:
                if found >= rows and sum(_count(p, start, begins) for p in parts) >= rows:
                    break  # the rows of this block and of those after it come later
                data = session.rows("SELECT data FROM courses WHERE number = ?", number)[0][0]
                parts.append(self._unpack(bytes(data), vehicle))
                found += _count(parts[-1], start, end)
        return join_courses(parts, start, end, rows=rows)

    def notices(self, sink: str, *, limit: int) -> list[tuple[int, Notice]]:
        """Return notices that a sink has not confirmed, oldest first, with their numbers."""
        with self._db.reads() as session:
            found = session.rows(
                "SELECT number, id, what, record FROM notices n WHERE number >"
                " coalesce((SELECT told FROM sinks WHERE sink = ?), 0) AND NOT EXISTS"
                " (SELECT 1 FROM confirmed c WHERE c.sink = ? AND c.number = n.number)"
                " ORDER BY number LIMIT ?",
                to_key(sink),
                to_key(sink),
                clamp(max(limit, 0)),
            )
        return [
            (number, Notice(from_key(id), what, event_rows.from_text(text)))
            for number, id, what, text in found
        ]

    def confirm(self, sink: str, numbers: Sequence[int]) -> None:
        """Mark notices as told by a sink; numbers already confirmed are skipped."""
        key = to_key(sink)
        with self._db.writes() as session:
            session.many(
                "INSERT INTO confirmed (sink, number) SELECT CAST(? AS TEXT), number FROM notices"
                " WHERE number = ? ON CONFLICT DO NOTHING",
                [(key, number) for number in numbers],
            )
            _forget_confirmed(session, key)

    def prune(self, *, now: Micros, keep: Micros, keep_events: Micros, max_size: int) -> int:
        """Delete what is older than its age, and the oldest courses beyond the size."""
        return prune(self._db, before=now - keep, events=now - keep_events, max_size=max_size)

    def size(self) -> int:
        """Return the number of bytes that the store takes on disk."""
        return self._db.size()

    def _open(self) -> None:
        """Connect and bring the tables to the newest version."""
        self._db.open()
        with self._db.writes() as session:
            migrate(session, self._dialect, store=self._db.name)

    def _unpack(self, data: bytes, vehicle: str) -> Course:
        try:
            return unpack_course(data)
        except ValueError as error:
            raise StoreError(
                f"{self._db.name} has a damaged course of {vehicle!r}: {error}; restore a copy"
            ) from None


def _meta(session: Session) -> dict[str, str]:
    return dict(session.rows("SELECT name, value FROM meta"))


def _set_meta(session: Session, **values: str) -> None:
    for name, value in values.items():
        session.run("UPDATE meta SET value = ? WHERE name = ?", value, name)


def _write_states(session: Session, commit: Commit) -> None:
    """Append tails; a snapshot replaces the one before and all tails of its vehicle."""
    tails = [(to_key(one.vehicle), one.samples) for one in commit.tails]
    session.append("tails", {"vehicle": "text", "samples": "bytea"}, tails)
    session.many(
        "DELETE FROM tails WHERE vehicle = ?", [(to_key(one.vehicle),) for one in commit.snapshots]
    )
    session.many(
        "INSERT INTO vehicles (vehicle, state, last_time) VALUES (?, ?, ?) ON CONFLICT (vehicle)"
        " DO UPDATE SET state = excluded.state, last_time = excluded.last_time",
        [(to_key(one.vehicle), one.state, one.last_time) for one in commit.snapshots],
    )


def _course_row(snapshot: Snapshot, course: Course) -> tuple[Any, ...]:
    data, times = pack_course(course), course.times
    return (to_key(snapshot.vehicle), int(times.min()), int(times.max()), len(data), data)


def _notice_row(notice: Notice) -> tuple[str, str, str, str]:
    event = notice.event
    return (to_key(notice.id), to_key(event.id), notice.what, event_rows.to_text(event))


def _event(session: Session, id: str) -> EventRecord | None:
    sql = f"SELECT {event_rows.COLUMNS} FROM events WHERE id = ?"  # noqa: S608
    found = session.rows(sql, to_key(id))
    return event_rows.from_row(found[0]) if found else None


def _count(course: Course, start: Micros, end: Micros) -> int:
    return int(np.count_nonzero((course.times >= start) & (course.times < end)))


def _forget_confirmed(session: Session, sink: str) -> None:
    """Keep, instead of a row for each notice confirmed, the number up to which all are."""
    told = (
        "SELECT coalesce((SELECT min(number) - 1 FROM notices n WHERE NOT EXISTS"
        " (SELECT 1 FROM confirmed c WHERE c.sink = ? AND c.number = n.number) AND number >"
        " coalesce((SELECT told FROM sinks WHERE sink = ?), 0)), (SELECT max(number) FROM notices))"
    )
    number = session.rows(told, sink, sink)[0][0]
    if number is None:
        return
    session.run(
        "INSERT INTO sinks (sink, told) VALUES (?, ?)"
        " ON CONFLICT (sink) DO UPDATE SET told = excluded.told",
        sink,
        number,
    )
    session.run("DELETE FROM confirmed WHERE sink = ? AND number <= ?", sink, number)
