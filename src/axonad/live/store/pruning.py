"""Deleting what is old or too much, in small transactions between which commits get their turn."""

from __future__ import annotations

from axonad.live.record import Micros
from axonad.live.store.connections import Database
from axonad.live.store.event_rows import clamp

BATCH = 500  # records deleted in a transaction


def prune(database: Database, *, before: Micros, events: Micros, max_size: int) -> int:
    """Delete courses and states from before a time, events from before another, and by size.

    Return the number of records deleted.
    """
    deleted = delete_courses(database, before=clamp(before))
    deleted += _states(database, clamp(before)) + _events(database, clamp(events))
    while (excess := database.used() - max_size) > 0:
        more = delete_courses(database, excess=excess)
        if not more:
            break
        deleted += more
    if deleted:
        database.shrink()
    return deleted


def delete_courses(database: Database, *, before: Micros | None = None, excess: int = 0) -> int:
    """Delete courses that end before a time, or the oldest of so many bytes; count them."""
    deleted = freed = 0
    while before is not None or freed < excess:
        with database.writes() as session:
            found = session.rows(
                "SELECT number, bytes, ends FROM courses ORDER BY ends, number LIMIT ?", BATCH
            )
            chosen = []
            for number, size, ends in found:
                if freed >= excess if before is None else ends >= before:
                    break
                chosen.append((number,))
                freed += size
            session.many("DELETE FROM courses WHERE number = ?", chosen)
        deleted += len(chosen)
        if len(chosen) < BATCH:
            break
    return deleted


def _states(database: Database, before: Micros) -> int:
    """Delete states of vehicles that fell silent before a time, without samples to replay."""
    deleted = 0
    while True:
        with database.writes() as session:
            found = session.run(
                "DELETE FROM vehicles WHERE vehicle IN (SELECT vehicle FROM vehicles v"
                " WHERE last_time < ? AND NOT EXISTS"
                " (SELECT 1 FROM tails t WHERE t.vehicle = v.vehicle) LIMIT ?)",
                before,
                BATCH,
            )
        deleted += found
        if found < BATCH:
            return deleted


def _events(database: Database, before: Micros) -> int:
    """Delete events that ended before a time, with all that was to be told about them."""
    deleted = 0
    while True:
        with database.writes() as session:
            found = session.rows(
                "SELECT id FROM events WHERE ends < ? AND status <> 'firing' LIMIT ?",
                before,
                BATCH,
            )
            session.many(
                "DELETE FROM confirmed WHERE number IN"
                " (SELECT number FROM notices WHERE event = ?)",
                found,
            )
            session.many("DELETE FROM notices WHERE event = ?", found)
            session.many("DELETE FROM events WHERE id = ?", found)
        deleted += len(found)
        if len(found) < BATCH:
            return deleted
