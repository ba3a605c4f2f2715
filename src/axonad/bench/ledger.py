"""A table on disk that only grows: one line per entry, on the disk before the next is made.

A run that was killed leaves at most a torn last line, which the next run removes; that entry is
then made again. Nothing else is rewritten. One run at a time may write into a folder.
"""

from __future__ import annotations

import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from axonad.errors import FileError, InputError

LOCK_NAME = ".lock"


class Entry(Protocol):
    """What a ledger holds: something with a key, and flat columns."""

    @property
    def key(self) -> str:
        """What it is an entry for; the last entry of a key is the one that counts."""
        ...

    def to_record(self) -> dict[str, Any]:
        """Return its columns, in order."""
        ...


E = TypeVar("E", bound=Entry)


class Ledger(ABC, Generic[E]):
    """A folder with a growing CSV file, open for one run. Use as a context manager."""

    file_name: str
    columns: tuple[str, ...]

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / self.file_name

    @abstractmethod
    def parse(self, record: Mapping[str, Any]) -> E:
        """Return the entry of a line."""

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise FileError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            _take(self._lock, self.folder)
            self.rows = self.read() if self._has_heading() else []
            drop_torn_line(self.path)  # read first: a file of another kind is not ours to cut
            self._file = self.path.open("a", newline="", encoding="utf-8")
            if self.path.stat().st_size == 0:
                self._write(self.columns)
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def _has_heading(self) -> bool:
        """Say whether there is more in the file than nothing or our heading, torn."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            first = file.readline()
        ours = _line(self.columns).encode()
        return first == ours or not ours.startswith(first)

    def append(self, row: E) -> None:
        """Write an entry; it is on the disk when this returns."""
        self._write([_text(value) for value in row.to_record().values()])
        self.rows.append(row)

    def read(self) -> list[E]:
        """Return the entries on the disk, every key's last."""
        return self.entries(read_csv(self.path, self.columns), self.path)

    def entries(self, records: Iterable[Mapping[str, Any]], path: Path) -> list[E]:
        """Return the entries of records, every key's last; say where one does not fit."""
        found: dict[str, E] = {}
        for number, record in enumerate(records, 1):
            try:
                entry = self.parse(record)
            except (InputError, ValueError) as error:
                raise InputError(f"{path}, row {number}: {error}") from None
            found[entry.key] = entry
        return list(found.values())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
            self._finish()
        finally:
            os.close(self._lock)

    def _finish(self) -> None:
        """Do what is left to do when all entries of a run are written."""

    def _write(self, values: Iterable[str]) -> None:
        self._file.write(_line(values))
        self._file.flush()
        os.fsync(self._file.fileno())


def read_csv(path: Path, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the whole lines of a table; refuse one with other columns."""
    csv.field_size_limit(2**24)
    try:
        whole = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _foreign(path) from None
    whole = whole[: whole.rfind("\n") + 1]  # a run that was killed leaves a torn last line
    with io.StringIO(whole, newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != columns:
            raise _foreign(path)
        records = [dict(record) for record in reader]
    for number, record in enumerate(records, 1):
        if None in record or None in record.values():  # as the reader marks them
            raise InputError(f"{path}, row {number}: it has more or fewer fields than the heading")
    return records


def drop_torn_line(path: Path) -> None:
    """Cut off a last line that a killed run did not finish."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)


def _line(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _foreign(path: Path) -> InputError:
    return InputError(
        f"{path} is not a table of rows of this version of axonad: its columns differ; "
        "choose another folder"
    )


def _text(value: Any) -> str:
    """Write a value so that reading gives it back; ``repr`` of a float is its shortest form."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _take(lock: int, folder: Path) -> None:
    """Take the folder for this run; the system frees it when the process ends, however it does."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FileError(
            f"{folder} is in use by another run; wait for it or choose another folder"
        ) from None
