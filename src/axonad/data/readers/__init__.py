"""Files to series: one format, one module, one line in READERS."""

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


def read_file(
    path: str | Path,
    *,
    label: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    separator: str = ",",
) -> Series:
    """Return the series in a file, read by the reader for its ending."""
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path} does not exist")
    if path.is_dir():
        raise FileError(f"{path} is a folder; expected a file ({', '.join(READERS)})")
    frame = _reader(path)(path, separator=separator)
    return to_series(frame, name=path.name, label=label, time=time, ignore=ignore)


def _reader(path: Path) -> Callable[..., pl.DataFrame]:
    for ending, target in sorted(READERS.items(), key=lambda item: -len(item[0])):
        if path.name.lower().endswith(ending):
            module, function = target.split(":")
            return cast("Callable[..., pl.DataFrame]", getattr(import_module(module), function))
    raise UnknownNameError(
        f"no reader for {path.name!r}; its ending must be one of {', '.join(READERS)}"
    )
