"""Parquet files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from axonad.errors import FileError


def read_parquet(path: Path, *, separator: str = ",") -> pl.DataFrame:
    """Return the table in a Parquet file; ``separator`` is ignored."""
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{path} cannot be read as Parquet: {reason}") from None
