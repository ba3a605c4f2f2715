"""Read files into series. A format is one module and one line in READERS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from axonad.data.readers.columns import to_series
from axonad.data.series import Series
from axonad.errors import FileError, UnknownNameError

if TYPE_CHECKING:
    import polars as pl

READERS = {
    ".csv": "axonad.data.readers.csv:read_csv",
    ".csv.gz": "axonad.data.readers.csv:read_csv",
    ".parquet": "axonad.data.readers.parquet:read_parquet",
}


def read(
    path: str | Path,
    *,
    label: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    separator: str = ",",
) -> Series:
    """Return the series in a CSV or Parquet file.

    Parameters
    ----------
    path
        The file; its suffix selects the reader.
    label
        Column with 0/1 labels. Default: the column named ``Label`` (any case), if present.
    time
        Column with times. Default: the first column named ``time``, ``timestamp`` or ``t_s`` (any
        case), if present.
    ignore
        Columns to skip.
    separator
        The character between the columns of a CSV file.
    """
    path = Path(path)
    frame = find_reader(path)(path, separator=separator)
    return to_series(frame, name=path.name, label=label, time=time, ignore=ignore)


def find_reader(path: Path) -> Callable[..., pl.DataFrame]:
    """Return the function that reads a file; raise an error if there is none for its suffix."""
    if not path.exists():
        raise FileError(f"{path} does not exist; expected a file ({', '.join(READERS)})")
    if path.is_dir():
        raise FileError(f"{path} is a folder; expected a file ({', '.join(READERS)})")
    for ending, target in sorted(READERS.items(), key=lambda item: -len(item[0])):
        if path.name.lower().endswith(ending):
            module, function = target.split(":")
            return cast("Callable[..., pl.DataFrame]", getattr(import_module(module), function))
    raise UnknownNameError(
        f"no reader for {path.name!r}; its suffix must be one of {', '.join(READERS)}"
    )
