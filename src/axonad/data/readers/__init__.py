"""Read files into series. A format is one module and one line in READERS."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from axonad.errors import FileError, InputError, UnknownNameError

if TYPE_CHECKING:
    from axonad.data.series import Series

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
    separator: str | None = None,
) -> Series:
    """Return the series in a CSV or Parquet file.

    The file is parsed in a process of its own, so a damaged file cannot harm this one.

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
        The character between the columns of a CSV file, or ``"tab"``. Default: comma, semicolon,
        tab or ``|``, found from the first lines.
    """
    from axonad.data.readers.reading import read_whole
    from axonad.data.readers.request import Request

    return read_whole(Request.of(path, label, time, ignore, separator))


def find_reader(path: Path) -> tuple[str, int]:
    """Return the function that reads a file and the file's size; raise an error without one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; expected a file ({', '.join(READERS)})") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read: {reason}") from None
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path} is a folder; expected a file ({', '.join(READERS)})")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path} is a pipe, socket or device; expected a plain file")
    for ending, target in sorted(READERS.items(), key=lambda item: -len(item[0])):
        if path.name.lower().endswith(ending):
            if status.st_size == 0:
                raise InputError(f"{path} is empty; expected a header line and rows")
            return target, status.st_size
    raise UnknownNameError(
        f"no reader for {path.name!r}; its suffix must be one of {', '.join(READERS)}"
    )
