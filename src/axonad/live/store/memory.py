"""A store in memory, for tests and for ``sqlite::memory:``: the plain twin of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, Notice
from axonad.live.store.contract import Commit, Saved, Snapshot
from axonad.live.store.owners import refuse


class MemoryStore:
    """Keeps everything in dictionaries; it is lost with the process."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._model = ""
        self._number = 0
        self._snapshots: dict[str, Snapshot] = {}
        self._tails: dict[str, list[bytes]] = {}
        self._courses: dict[str, list[Course]] = {}
        self._events: dict[str, EventRecord] = {}
        self._notices: dict[str, tuple[int, Notice]] = {}
        self._told = 0
        self._confirmed: dict[str, set[int]] = {}
        self._positions: dict[str, int] = {}

    def start(self, *, model: str) -> int:
        """Open it for a model; return the number of the last commit."""
        if self._model not in ("", model):
            raise refuse("the store", holds=self._model, wanted=model)
        self._model = model
        return self._number

    def replace_model(self, model: str) -> None:
        """Forget states and courses and belong to another model; nothing if it is this one's."""
        with self._lock:
            if self._model == model:
                return
            self._model = model
            self._snapshots.clear()
            self._tails.clear()
            self._courses.clear()

    def commit(self, commit: Commit) -> None:
        """Store all of a commit."""
        with self._lock:
            if commit.number <= self._number:
                return
            self._number = commit.number
            for tail in commit.tails:
                self._tails.setdefault(tail.vehicle, []).append(tail.samples)
            for snapshot in commit.snapshots:
                self._snapshots[snapshot.vehicle] = snapshot
                self._tails.pop(snapshot.vehicle, None)
                if snapshot.course:
                    self._courses.setdefault(snapshot.vehicle, []).append(snapshot.course)
            for event in commit.events:
                self._events[event.id] = _with_actions(event, self._events.get(event.id), commit)
            for notice in commit.notices:
                if notice.id not in self._notices:
                    self._told += 1
                    self._notices[notice.id] = (self._told, notice)
            self._positions |= commit.positions

    def close(self) -> None:
        """Do nothing."""

    def saved(self, vehicle: str) -> Saved | None:
        """Return the state of a vehicle; None if it is not known."""
        with self._lock:
            snapshot, tails = self._snapshots.get(vehicle), self._tails.get(vehicle, [])
            if snapshot is None:
                return Saved(None, tuple(tails), 0) if tails else None
            return Saved(snapshot.state, tuple(tails), snapshot.last_time)

    def vehicles(self, *, since: Micros = 0) -> dict[str, Micros]:
        """Return known vehicles and the time of their last snapshot."""
        with self._lock:
            found = dict.fromkeys(self._tails, 0)
            found |= {name: known.last_time for name, known in self._snapshots.items()}
            return {k: t for k, t in found.items() if t >= since or k in self._tails}

    def position(self, source: str) -> int | None:
        """Return the last committed position in a source."""
        return self._positions.get(source)

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first by their begin, then by id."""
        with self._lock:
            found = [event for event in self._events.values() if _matches(event, query)]
        found.sort(key=lambda event: (event.begins, event.id), reverse=True)
        return found[: query.limit]

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""
        return self._events.get(id)

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action."""
        with self._lock:
            event = self._events.get(id)
            if event is not None:
                event = self._events[id] = replace(event, **acted(event, action))
            return event

    def put_sentence(self, id: str, sentence: str) -> None:
        """Store the sentence of an event, if the event is known."""
        with self._lock:
            if id in self._events:
                self._events[id] = replace(self._events[id], sentence=sentence)

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the rows of snapshots in ``[start, end)``, at most the first ``rows``."""
        with self._lock:
            courses = list(self._courses.get(vehicle, []))
        return join_courses(courses, start, end, rows=rows)

    def notices(self, sink: str, *, limit: int) -> list[tuple[int, Notice]]:
        """Return notices that a sink has not confirmed, oldest first."""
        with self._lock:
            known = self._confirmed.get(sink, set())
            return [(n, notice) for n, notice in self._notices.values() if n not in known][:limit]

    def confirm(self, sink: str, numbers: Sequence[int]) -> None:
        """Mark notices as told by a sink."""
        with self._lock:
            self._confirmed.setdefault(sink, set()).update(numbers)

    def prune(self, *, now: Micros, keep: Micros, keep_events: Micros, max_size: int) -> int:
        """Delete what is older than its age; a store in memory has no size."""
        with self._lock:
            before = self._count()
            for name, courses in self._courses.items():
                self._courses[name] = [c for c in courses if c.times.max() >= now - keep]
            for name, known in list(self._snapshots.items()):
                if known.last_time < now - keep and name not in self._tails:
                    del self._snapshots[name]
            for id, event in list(self._events.items()):
                if event.ends < now - keep_events and event.status != "firing":
                    del self._events[id]
                    for notice in [n for _, n in self._notices.values() if n.event.id == id]:
                        del self._notices[notice.id]
            return before - self._count()

    def size(self) -> int:
        """Return 0."""
        return 0

    def _count(self) -> int:
        courses = sum(map(len, self._courses.values()))
        return courses + len(self._snapshots) + len(self._events)


def acted(event: EventRecord, action: Action) -> dict[str, Any]:
    """Return the fields of an event that an action changes."""
    if action.what == "comment":
        comment = {"time": action.time, "author": action.author, "text": action.text}
        return {"comments": (*event.comments, comment)}
    field = "shelved" if "shelve" in action.what else "acknowledged"
    return {field: not action.what.startswith("un")}


def join_courses(
    courses: Sequence[Course], start: Micros, end: Micros, *, rows: int
) -> Course | None:
    """Return the rows of courses in ``[start, end)`` as one, at most the first ``rows``.

    Rows are in order of time.
    """
    parts = [c for c in courses if len(c) and c.times.max() >= start and c.times.min() < end]
    parts.sort(key=lambda part: int(part.times.min()))
    if not parts:
        return None
    times = np.concatenate([part.times for part in parts])
    order = np.argsort(times, kind="stable")
    kept = order[(times[order] >= start) & (times[order] < end)][:rows]
    if not len(kept):
        return None
    return Course(
        times[kept],
        np.concatenate([part.values for part in parts])[kept],
        np.concatenate([part.scores for part in parts])[kept],
        np.concatenate([part.alarms for part in parts])[kept],
    )


def _with_actions(event: EventRecord, known: EventRecord | None, commit: Commit) -> EventRecord:
    event = replace(event, changed=commit.number)
    if known is None:
        return event
    return replace(
        event, acknowledged=known.acknowledged, shelved=known.shelved, comments=known.comments,
        sentence=known.sentence,
    )  # fmt: skip


def _matches(event: EventRecord, query: EventQuery) -> bool:
    texts = [(query.vehicle, event.vehicle), (query.kind, event.kind)]
    texts += [(query.severity, event.severity), (query.status, event.status)]
    flags = [(query.acknowledged, event.acknowledged), (query.shelved, event.shelved)]
    return (
        all(wanted in ("", got) for wanted, got in texts)
        and all(wanted in (None, got) for wanted, got in flags)
        and (query.since is None or event.ends >= query.since)
        and (query.until is None or event.begins < query.until)
        and (query.before is None or (event.begins, event.id) < query.before)
        and (query.changed_after is None or event.changed > query.changed_after)
    )
