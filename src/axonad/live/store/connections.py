"""Connections to a database: one that writes, and a few for readers in other threads.

A connection that met an error is closed; the next transaction gets a new one. So a database that
was locked, full or restarted is used again as soon as it can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, RLock
from typing import Any

from axonad.live.store.contract import StoreError, StoreUnavailableError

READERS = 8  # connections for readers at most; further ones wait


class Session:
    """Runs SQL, with ``?`` for values, within one transaction."""

    def __init__(self, cursor: Any, *, mark: str = "?") -> None:
        self._cursor = cursor
        self._mark = mark

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows that a query finds."""
        found: list[tuple[Any, ...]] = self._cursor.execute(self._adapt(sql), values).fetchall()
        return found

    def run(self, sql: str, *values: Any) -> int:
        """Change something; return the number of rows changed."""
        return int(self._cursor.execute(self._adapt(sql), values).rowcount)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        if values := list(rows):
            self._cursor.executemany(self._adapt(sql), values)

    def append(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table; ``columns`` have the types of their values."""
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        self.many(sql, rows)

    def _adapt(self, sql: str) -> str:
        return sql if self._mark == "?" else sql.replace("?", self._mark)


class Database(ABC):
    """Transactions on one database; ``name`` is what messages call it."""

    name: str
    errors: type[Exception]  # what its driver raises
    begin_read = "BEGIN"
    begin_write = "BEGIN"

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_open = False
        self._writing = RLock()
        self._writer: Any = None
        self._readers: list[Any] = []
        self._room = BoundedSemaphore(READERS)

    @abstractmethod
    def connect(self, *, writes: bool) -> Any:
        """Return a new connection; one that writes makes sure that it is the only one."""

    @abstractmethod
    def session(self, connection: Any) -> Session:
        """Return what runs SQL on a connection."""

    @abstractmethod
    def explain(self, error: Exception) -> StoreError:
        """Return an error of the driver as one sentence, with the right class."""

    @abstractmethod
    def size(self) -> int:
        """Return the bytes it takes on disk."""

    @abstractmethod
    def used(self) -> int:
        """Return the bytes of it that hold something; deleting makes them fewer at once."""

    @abstractmethod
    def shrink(self) -> None:
        """Give space that became free back to the disk, where the database does not do so."""

    @abstractmethod
    def release(self) -> None:
        """Let other servers use it."""

    def is_gone(self, error: Exception) -> bool:
        """Return whether an error means that an old connection is dead and a new one may work."""
        return False

    def open(self) -> None:
        """Connect, as the only one who writes."""
        with self._writing:
            if not self.is_open:
                self._writer = self._connect(writes=True)
                self.is_open = True

    def close(self) -> None:
        """Give up all connections; transactions then raise StoreUnavailableError."""
        with self._writing:
            self.is_open = False
            self._drop(self._writer)
            self._writer = None
            while self._readers:
                self._drop(self._readers.pop())
            self.release()

    @contextmanager
    def writes(self) -> Iterator[Session]:
        """Run a transaction that may write; it is undone if an exception leaves it."""
        with self._writing:
            self._check_open()
            old, self._writer = self._writer, None
            connection = self._begin(old, writes=True)
            with self._committed(connection) as session:
                yield session
            self._writer = connection

    @contextmanager
    def reads(self) -> Iterator[Session]:
        """Run a transaction that sees one state of the store, in any thread."""
        with self._room:
            self._check_open()
            try:
                old = self._readers.pop()
            except IndexError:
                old = None
            connection = self._begin(old, writes=False)
            with self._committed(connection) as session:
                yield session
            self._readers.append(connection)
            if not self.is_open:  # closed meanwhile
                self.close()

    @contextmanager
    def _committed(self, connection: Any) -> Iterator[Session]:
        """Commit at the end of a block; drop the connection, which undoes it, if that fails."""
        try:
            yield self.session(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            self._drop(connection)
            if isinstance(error, self.errors):
                raise self.explain(error) from error
            raise

    def _begin(self, old: Any, *, writes: bool) -> Any:
        """Return a connection in a transaction: the old one, or a new one if that is gone."""
        sql = self.begin_write if writes else self.begin_read
        if old is not None:
            try:
                old.execute(sql)
            except self.errors as error:
                self._drop(old)
                if not self.is_gone(error):
                    raise self.explain(error) from error
            else:
                return old
        connection = self._connect(writes=writes)
        try:
            connection.execute(sql)
        except self.errors as error:
            self._drop(connection)
            raise self.explain(error) from error
        return connection

    def _connect(self, *, writes: bool) -> Any:
        try:
            return self.connect(writes=writes)
        except self.errors as error:
            raise self.explain(error) from error

    def _drop(self, connection: Any) -> None:
        if connection is not None:
            with suppress(self.errors):
                connection.close()

    def _check_open(self) -> None:
        if not self.is_open:
            raise StoreUnavailableError(f"{self.name} is closed")
