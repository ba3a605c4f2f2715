"""SQLite: one file beside which lie its log (``-wal``, ``-shm``) and a lock (``.lock``)."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from axonad.live.store.connections import Database, Session
from axonad.live.store.contract import StoreError, StoreUnavailableError
from axonad.live.store.schema import Dialect

DIALECT = Dialect(
    name="TEXT",
    blob="BLOB",
    number="INTEGER PRIMARY KEY AUTOINCREMENT",
    has_meta="SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
)
APPLICATION = 0x41784144  # "AxAD": marks the file as ours
LOG_LIMIT = 64_000_000  # bytes to which the log is cut after a burst
PASSING = {  # problems that may pass, by SQLite's number
    sqlite3.SQLITE_BUSY: "is locked by another program",
    sqlite3.SQLITE_LOCKED: "is locked by another program",
    sqlite3.SQLITE_FULL: "cannot grow because the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "is read-only; make the file and its folder writable",
    sqlite3.SQLITE_PERM: "may not be opened; make the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder is there and writable",
    sqlite3.SQLITE_IOERR: "cannot be read or written; check the disk",
    sqlite3.SQLITE_NOMEM: "needs more memory than there is",
    sqlite3.SQLITE_PROTOCOL: "is locked by another program",
}
LASTING = {
    sqlite3.SQLITE_CORRUPT: "is damaged; move it away and restore a copy, or start with a new file",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database or is damaged; choose another file",
}


class SqliteDatabase(Database):
    """A file of SQLite; ``timeout`` is how long to wait for programs that lock it, in seconds."""

    errors = sqlite3.Error
    begin_write = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, *, timeout: float = 5.0) -> None:
        super().__init__(f"the store {path}")
        self.path = path
        self.timeout = timeout
        self._lock: sqlite3.Connection | None = None

    def open(self) -> None:
        """Create the file if it is missing, and keep other servers out until it is closed."""
        if not self.path.parent.is_dir():
            raise StoreError(f"the folder of {self.name} does not exist; create it")
        if self.path.is_dir():
            raise StoreError(f"{self.name} is a folder; name a file")
        self._keep_out()
        try:
            self._create()
            super().open()
        except sqlite3.Error as error:
            self.release()
            raise self.explain(error) from error
        except StoreError:
            self.release()
            raise

    def connect(self, *, writes: bool) -> sqlite3.Connection:
        """Return a new connection to the file, which must be there."""
        return self._connect_file(self.path, mode="rw", timeout=self.timeout, writes=writes)

    def session(self, connection: Any) -> Session:
        """Return what runs SQL on a connection."""
        return Session(connection.cursor())

    def explain(self, error: Exception) -> StoreError:
        """Return an error of SQLite as one sentence."""
        code = _code(error)
        if not self.path.exists():
            return StoreUnavailableError(f"{self.name} was removed; put it back or restart")
        if code in PASSING:
            return StoreUnavailableError(f"{self.name} {PASSING[code]}")
        if code in LASTING:
            return StoreError(f"{self.name} {LASTING[code]}")
        return StoreError(f"{self.name} failed: {error}")

    def size(self) -> int:
        """Return the bytes of the file and its log."""
        total = 0
        for path in (self.path, self.path.with_name(self.path.name + "-wal")):
            with suppress(OSError):
                total += path.stat().st_size
        return total

    def used(self) -> int:
        """Return the bytes of pages that hold something."""
        pages, free, size = self._pages()
        return (pages - free) * size

    def shrink(self) -> None:
        """Cut free pages off the file while they are more than a tenth of it."""
        while True:
            pages, free, _ = self._pages()
            if free <= max(pages // 10, 100):
                return
            self._vacuum(500)
            if self._pages()[0] >= pages:
                return  # a file without incremental vacuum

    def release(self) -> None:
        """Let other servers use the file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_open(self) -> None:
        super()._check_open()
        if not self.path.exists():  # writing would go on, into a file that nobody can find
            raise StoreUnavailableError(f"{self.name} was removed; put it back or restart")

    def _pages(self) -> tuple[int, int, int]:
        """Return the pages of the file, those of them that are free, and the bytes of one."""
        with self.reads() as session:
            pages, free, size = (
                int(session.rows(f"PRAGMA {what}")[0][0])
                for what in ("page_count", "freelist_count", "page_size")
            )
        return pages, free, size

    def _vacuum(self, pages: int) -> None:
        """Cut so many free pages off the file."""
        with self._writing:
            connection = self._connect(writes=True)
            try:  # `execute` would stop after the first page
                connection.executescript(f"PRAGMA incremental_vacuum({pages})")
            except sqlite3.Error as error:
                raise self.explain(error) from error
            finally:
                connection.close()

    def _keep_out(self) -> None:
        """Lock a file beside the store; the system unlocks it however the process ends."""
        if self._lock is not None:
            return
        path = self.path.with_name(self.path.name + ".lock")
        lock = None
        try:
            lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if lock is not None:
                lock.close()
            if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(f"{self.name} is used by another axonad live; stop it") from None
            raise StoreUnavailableError(
                f"the lock of {self.name} cannot be taken; check that its folder is writable"
            ) from error
        self._lock = lock

    def _create(self) -> None:
        """Prepare an empty file; refuse one that belongs to another program."""
        connection = self._connect_file(self.path, mode="rwc", timeout=self.timeout)
        try:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                    raise StoreError(
                        f"{self.name} is a database of another program; choose another file"
                    )
            else:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before all else
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        finally:
            connection.close()

    def _connect_file(
        self, path: Path, *, mode: str, timeout: float, writes: bool = True
    ) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT}")
        if not writes:
            connection.execute("PRAGMA query_only = 1")
        return connection


def _code(error: Exception) -> int:
    """Return SQLite's number for a kind of problem; 0 for those of its Python module."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
