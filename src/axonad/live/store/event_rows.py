"""Events as rows of a table, and questions about them as SQL.

What alarms say, the sentence and what people did lie in columns of their own, so that one can be
replaced without the others. Numbers and texts that nobody searches for are one column of JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from axonad.live.record import EventQuery, EventRecord

SEARCHED = ("id", "vehicle", "kind", "severity", "status", "begins", "ends", "changed")
DETAIL = ("number", "fired", "peak", "score", "channels", "reason", "drift", "final")
PEOPLE = ("acknowledged", "shelved", "comments")
COLUMNS = ", ".join((*SEARCHED, "detail", "sentence", *PEOPLE))
UPSERT = (
    f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * (len(SEARCHED) + 5))})"  # noqa: S608
    " ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in (*SEARCHED[1:], "detail"))
)
LARGEST = 2**63 - 1


def to_row(event: EventRecord, *, changed: int) -> tuple[Any, ...]:
    """Return the values of :data:`COLUMNS`, for a commit's number."""
    known = asdict(event) | {"changed": changed}
    detail = json.dumps({name: known[name] for name in DETAIL})
    texts = [to_key(known[name]) for name in SEARCHED[:5]]
    numbers = [known[name] for name in SEARCHED[5:]]
    flags = [int(event.acknowledged), int(event.shelved)]
    return (*texts, *numbers, detail, to_key(event.sentence), *flags, json.dumps(known["comments"]))


def from_row(row: tuple[Any, ...]) -> EventRecord:
    """Return the event of a row with :data:`COLUMNS`."""
    known: dict[str, Any] = dict(zip(SEARCHED, row, strict=False))
    known |= {name: from_key(known[name]) for name in SEARCHED[:5]} | json.loads(row[8])
    known |= {"acknowledged": bool(row[10]), "shelved": bool(row[11])}
    known |= {"channels": tuple(known["channels"]), "comments": tuple(json.loads(row[12]))}
    known["sentence"] = from_key(row[9])
    return EventRecord(**known)


def to_text(event: EventRecord) -> str:
    """Return a whole event as JSON, in plain ASCII."""
    return json.dumps(asdict(event))


def from_text(text: str) -> EventRecord:
    """Return the event of :func:`to_text`."""
    known = json.loads(text)
    known |= {name: tuple(known[name]) for name in ("channels", "comments")}
    return EventRecord(**known)


def select(query: EventQuery) -> tuple[str, list[Any]]:
    """Return the SQL that finds the events of a query, and its values."""
    conditions: list[str] = []
    values: list[Any] = []

    def add(condition: str, *wanted: Any) -> None:
        conditions.append(condition)
        values.extend(wanted)

    for name in ("vehicle", "kind", "severity", "status"):
        if getattr(query, name):
            add(f"{name} = ?", to_key(getattr(query, name)))
    for name in ("acknowledged", "shelved"):
        if getattr(query, name) is not None:
            add(f"{name} = ?", int(getattr(query, name)))
    if query.since is not None:
        add("ends >= ?", clamp(query.since))
    if query.until is not None:
        add("begins < ?", clamp(query.until))
    if query.before is not None:
        add("(begins, id) < (?, ?)", clamp(query.before[0]), to_key(query.before[1]))
    if query.changed_after is not None:
        add("changed > ?", clamp(query.changed_after))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT {COLUMNS} FROM events{where} ORDER BY begins DESC, id DESC LIMIT ?"  # noqa: S608
    return sql, [*values, clamp(max(query.limit, 0))]


def clamp(number: int) -> int:
    """Return the nearest number that fits into 64 bits, which is what databases compare with."""
    return max(-LARGEST, min(LARGEST, number))


def to_key(text: str) -> str:
    r"""Return a text that every database can hold: those with NUL or half characters as JSON.

    >>> to_key("car 1"), to_key("car\0")
    ('car 1', '"car\\u0000"')
    """
    odd = text.startswith('"') or "\0" in text
    if not text.isascii():
        odd = odd or any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text) if odd else text


def from_key(text: str) -> str:
    """Return what was given to :func:`to_key`."""
    return str(json.loads(text)) if text.startswith('"') else text
