"""Rows on disk: a CSV file that only grows, and the same as Parquet.

Every row is on the disk before the next job's is written. A run that was killed leaves at most a
torn last line, which the next run removes; that job then runs again. Nothing else is rewritten.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from axonad.bench.row import COLUMNS, METRIC_NAMES, Row, latest
from axonad.errors import FileError, InputError

CSV_NAME, PARQUET_NAME, LOCK_NAME = "rows.csv", "rows.parquet", ".lock"


class Results:
    """A folder of results, open for one run at a time. Use as a context manager."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.path = self.folder / CSV_NAME

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise FileError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            _take(self._lock, self.folder)
            _drop_torn_line(self.path)
            has_rows = self.path.exists() and self.path.stat().st_size > 0
            self.rows = read_rows(self.path) if has_rows else []
            self._file = self.path.open("a", newline="", encoding="utf-8")
            if self.path.stat().st_size == 0:
                self._write(COLUMNS)
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def append(self, row: Row) -> None:
        """Write a row; it is on the disk when this returns."""
        self._write([_text(value) for value in row.to_record().values()])
        self.rows.append(row)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
            if self.rows:
                write_parquet(self.folder / PARQUET_NAME, latest(self.rows))
        finally:
            os.close(self._lock)

    def _write(self, values: Iterable[str]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(values)
        self._file.write(line.getvalue())
        self._file.flush()
        os.fsync(self._file.fileno())


def read_rows(path: str | Path) -> list[Row]:
    """Return the rows of a CSV or Parquet file, or of a folder of results; every job's last."""
    path = Path(path)
    if path.is_dir():
        path = path / CSV_NAME if (path / CSV_NAME).exists() else path / PARQUET_NAME
    if not path.is_file():
        raise FileError(f"{path} does not exist; expected rows of `axonad bench run`")
    records = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    rows = []
    for number, record in enumerate(records, 1):
        try:
            rows.append(Row.from_record(record))
        except (InputError, ValueError) as error:
            raise InputError(f"{path}, row {number}: {error}") from None
    return latest(rows)


def write_parquet(path: str | Path, rows: Iterable[Row]) -> None:
    """Write rows as typed columns, whole or not at all."""
    import polars as pl

    path = Path(path)
    records = [row.to_record() for row in rows]
    numbers = dict.fromkeys(METRIC_NAMES, pl.Float64())
    frame = pl.DataFrame(records, schema_overrides=numbers, infer_schema_length=None)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        frame.write_parquet(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _read_csv(path: Path) -> list[dict[str, Any]]:
    csv.field_size_limit(2**24)
    whole = path.read_text(encoding="utf-8")
    whole = whole[: whole.rfind("\n") + 1]  # a run that was killed leaves a torn last line
    with io.StringIO(whole, newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(
                f"{path} is not a table of rows of this version of axonad: its columns differ; "
                "choose another folder"
            )
        return [dict(record) for record in reader]


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    import polars as pl

    try:
        return pl.read_parquet(path).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(f"{path} cannot be read: {error}") from None


def _drop_torn_line(path: Path) -> None:
    """Cut off a last line that a killed run did not finish."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)


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
