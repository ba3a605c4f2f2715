"""An append-only CSV file: one line per entry, flushed to disk before the next entry is made.

A killed process leaves at most one incomplete last line. The next run removes it and makes that
entry again; no other line is ever rewritten. A lock lets one process write to a folder at a time.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from axonad import atomic
from axonad.errors import FileError, InputError

LOCK_NAME = ".lock"


class _Entry(Protocol):
    """One line of a ledger; a later line with the same key replaces it."""

    @property
    def key(self) -> str: ...

    def to_record(self) -> dict[str, Any]: ...

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self: ...


E = TypeVar("E", bound=_Entry)


class Ledger(Generic[E]):
    """A folder with an append-only CSV file; a context manager that locks the folder.

    ``rows`` holds the entries on disk when the ledger was opened, then those appended.
    """

    entry: type[E]
    file_name: str
    columns: tuple[str, ...]
    written_by: str  # the command named when the file is missing

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / self.file_name

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise FileError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            _lock_folder(self._lock, self.folder)
            content = self.path.read_bytes() if self.path.exists() else b""
            is_empty = _format_line(self.columns).encode().startswith(content)
            self.rows = [] if is_empty else self.read()
            drop_incomplete_line(self.path)  # after reading, which checks the columns
            self._file = self.path.open("a", newline="", encoding="utf-8")
            if self.path.stat().st_size == 0:
                self._write(self.columns)
        except BaseException:
            with suppress(AttributeError, OSError):  # not opened, or its header cannot be written
                self._file.close()
            os.close(self._lock)
            raise
        return self

    def append(self, row: E) -> None:
        """Write an entry; it is on disk when this returns."""
        self._write([_format_value(value) for value in row.to_record().values()])
        self.rows.append(row)

    def read(self) -> list[E]:
        """Return the entries on disk, the last one of every key."""
        if not self.path.is_file():
            raise FileError(f"{self.path} does not exist; run `{self.written_by}` first")
        return self.parse_all(read_csv(self.path, self.columns), self.path)

    def parse_all(self, records: Iterable[Mapping[str, Any]], path: Path) -> list[E]:
        """Return the entries of records, the last one of every key; name a line that is invalid."""
        found: dict[str, E] = {}
        for number, record in enumerate(records, 1):
            try:
                entry = self.entry.from_record(record)
            except (InputError, ValueError) as error:
                raise InputError(f"{path}, row {number}: {error}") from None
            found[entry.key] = entry
        return list(found.values())

    def __exit__(self, *error: object) -> None:
        try:
            with atomic.writing(self.path):
                self._file.close()
            self._finish()
        finally:
            os.close(self._lock)

    def _finish(self) -> None:
        """Hook: called after the last entry, while the folder is still locked."""

    def _write(self, values: Iterable[str]) -> None:
        with atomic.writing(self.path):
            self._file.write(_format_line(values))
            self._file.flush()
            os.fsync(self._file.fileno())


def read_csv(
    path: Path, columns: tuple[str, ...], *, needed: tuple[str, ...] | None = None
) -> list[dict[str, Any]]:
    """Return the complete lines of a CSV file; refuse a file with other columns.

    Columns that are not ``needed`` may be missing; by default all are.
    """
    csv.field_size_limit(2**24)
    foreign = InputError(
        f"{path} is not a table of rows of this version of axonad: its columns differ; "
        "choose another folder"
    )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise foreign from None
    text = text[: text.rfind("\n") + 1]  # a killed process may leave an incomplete last line
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = reader.fieldnames or ()
    if tuple(names) != tuple(name for name in columns if name in names):
        raise foreign
    if not set(columns if needed is None else needed) <= set(names):
        raise foreign
    records = [dict(record) for record in reader]
    for number, record in enumerate(records, 1):
        if None in record or None in record.values():  # DictReader's marks for extra and missing
            raise InputError(f"{path}, row {number}: it has more or fewer fields than the heading")
    return records


def drop_incomplete_line(path: Path) -> None:
    """Cut off a last line without a line end, which a killed process left behind."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)


def _format_line(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _format_value(value: Any) -> str:
    """Return the text of a value; ``repr`` gives the shortest text that reads as the same float."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _lock_folder(lock: int, folder: Path) -> None:
    """Lock the folder for this process; the system releases it however the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FileError(
            f"{folder} is in use by another run; wait for it or choose another folder"
        ) from None
