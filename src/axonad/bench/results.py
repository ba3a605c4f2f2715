"""Rows on disk: an append-only CSV file (``bench/ledger.py``) and a Parquet copy of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from axonad import atomic
from axonad.bench.ledger import Ledger, read_csv
from axonad.bench.row import COLUMNS, METRIC_NAMES, NEEDED, Row, latest
from axonad.errors import FileError

CSV_NAME, PARQUET_NAME = "rows.csv", "rows.parquet"


class Results(Ledger[Row]):
    """A folder of rows, open for one process at a time; a context manager."""

    entry = Row
    file_name = CSV_NAME
    columns = COLUMNS
    written_by = "axonad bench run"

    def _finish(self) -> None:
        if self.rows:
            write_parquet(self.folder / PARQUET_NAME, latest(self.rows))


def read_rows(path: str | Path) -> list[Row]:
    """Return the rows of a CSV file, Parquet file or results folder, the last one of every job."""
    path = Path(path)
    if path.is_dir():
        path = path / CSV_NAME if (path / CSV_NAME).exists() else path / PARQUET_NAME
    if not path.is_file():
        raise FileError(f"{path} does not exist; expected rows of `axonad bench run`")
    is_parquet = path.suffix == ".parquet"
    records = _read_parquet(path) if is_parquet else read_csv(path, COLUMNS, needed=NEEDED)
    return Results(path.parent).parse_all(records, path)


def write_parquet(path: str | Path, rows: Iterable[Row]) -> None:
    """Write rows as typed columns; an error leaves an existing file untouched."""
    import polars as pl

    records = [row.to_record() for row in rows]
    numbers = dict.fromkeys(METRIC_NAMES, pl.Float64())
    frame = pl.DataFrame(records, schema_overrides=numbers, infer_schema_length=None)
    with atomic.replacement(path) as temporary:
        frame.write_parquet(temporary)


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    import polars as pl

    try:
        return pl.read_parquet(path).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(f"{path} cannot be read: {error}") from None
