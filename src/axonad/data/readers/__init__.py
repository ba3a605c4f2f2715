"""Read files into series. A format is one module and one line in READERS."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from axonad.errors import FileError, InputError, UnknownNameError

if TYPE_CHECKING:
    from axonad.data.series import Series

READERS = {
    ".csv": "axonad.data.readers.csv:read_csv",
    ".csv.gz": "axonad.data.readers.csv:read_csv",
    ".parquet": "axonad.data.readers.parquet:read_parquet",
    ".mf4": "axonad.data.readers.mdf:read_mdf",
    ".mdf": "axonad.data.readers.mdf:read_mdf",
    ".blf": "axonad.data.readers.can_log:read_blf",
    ".asc": "axonad.data.readers.can_log:read_asc",
    ".log": "axonad.data.readers.can_log:read_candump",
    ".mcap": "axonad.data.readers.mcap:read_mcap",
    ".bag": "axonad.data.readers.rosbag:read_rosbag",
    ".db3": "axonad.data.readers.rosbag:read_rosbag",
}
BAG_FOLDER = "metadata.yaml"  # in the folder of a ROS 2 bag
TABLES = (".csv", ".csv.gz", ".parquet")
RECORDINGS = frozenset(target for ending, target in READERS.items() if ending not in TABLES)
"""Readers of files whose channels have times of their own; they are resampled onto a raster."""


def read(
    path: str | Path,
    *,
    label: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    separator: str | None = None,
    channels: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    dbc: Sequence[str | Path] = (),
    rate: str | None = None,
    max_age: str | Mapping[str, str | int] | None = None,
    codes: bool = False,
    allow_missing: bool = False,
    known: Sequence[str] | None = None,
) -> Series:
    """Return the series in a file: a table (CSV, Parquet) or a recording (MDF, CAN log, MCAP, bag).

    The file is parsed in a process of its own, so a damaged file cannot harm this one. The channels
    of a recording are resampled onto one raster; see :mod:`axonad.data.resample`.

    Parameters
    ----------
    path
        The file, whose suffix selects the reader, or the folder of a ROS 2 bag.
    label
        Column with 0/1 labels. Default: the column named ``Label`` (any case), if present.
    time
        Column with times. Default: found by its name or type, see :mod:`axonad.data.time_columns`;
        a column named in ``channels`` without ``*`` and ``?`` is a channel.
    ignore
        Columns or channels to skip; ``*`` and ``?`` are wild.
    separator
        The character between the columns of a CSV file, or ``"tab"``. Default: comma, semicolon,
        tab or ``|``, found from the first lines.
    channels
        Channels to read, as for ``ignore``. Default: all that hold numbers; of a recording, integer
        codes only if they are named here without ``*`` and ``?``.
    rename
        Name in the file → name to use. All other parameters take the new names.
    dbc
        DBC files that say what the CAN frames of a recording mean.
    rate
        Rate of a recording's raster, such as ``"10Hz"`` or ``"100ms"``. Default: that of its
        fastest channel, rounded to 1, 2 or 5 times a power of ten, at most 100 Hz.
    max_age
        For how long a value of a recording is held, such as ``"2s"``, or a table of channels and
        durations (text or whole microseconds). Default: 10 times the channel's own interval, and at
        least one row. Of a table, whose rows stay as they are, it is what a model fitted on it
        learns: it holds values for so long where samples come at times of their own.
    codes
        Read all integer codes of a recording, such as gears and states.
    allow_missing
        Read a file that lacks some of ``channels``; by default it is refused.
    known
        Channels of the model that scores the file: none of them is time, whatever its name.
    """
    from axonad.data.readers.asked import Asked
    from axonad.data.readers.reading import read_whole
    from axonad.data.readers.request import Request

    asked = Asked.of(
        label=label, time=time, ignore=ignore, channels=channels, rename=rename, dbc=dbc,
        rate=rate, max_age=max_age, codes=codes, allow_missing=allow_missing, known=known,
    )  # fmt: skip
    return read_whole(Request.of(path, asked, separator=separator))


def is_recording(path: Path) -> bool:
    """Return whether a file is a recording by its name: its channels have times of their own."""
    endings = [ending for ending, target in READERS.items() if target in RECORDINGS]
    return path.name.lower().endswith(tuple(endings)) or is_bag_folder(path)


def is_bag_folder(path: Path) -> bool:
    """Return whether a folder is a bag of ROS 2."""
    return (path / BAG_FOLDER).is_file()


def find_reader(path: Path) -> tuple[str, int]:
    """Return the function that reads a file and the file's size; raise an error without one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; expected a file ({', '.join(READERS)})") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read: {reason}") from None
    if is_bag_folder(path):
        return READERS[".db3"], sum(one.stat().st_size for one in path.iterdir())
    if stat.S_ISDIR(status.st_mode):
        raise FileError(
            f"{path} is a folder without the {BAG_FOLDER} of a ROS 2 bag; expected a file "
            f"({', '.join(READERS)})"
        )
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path} is a pipe, socket or device; expected a plain file")
    for ending, target in sorted(READERS.items(), key=lambda item: -len(item[0])):
        if path.name.lower().endswith(ending):
            if status.st_size == 0:
                raise InputError(f"{path} is empty; expected data")
            return target, status.st_size
    raise UnknownNameError(
        f"no reader for {path.name!r}; its suffix must be one of {', '.join(READERS)}"
    )
