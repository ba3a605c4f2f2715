"""Series of the TSB-AD benchmark, in a folder or a zip, with the split in the file name.

``NNN_DATASET_id_K_DOMAIN_tr_N_1st_M.csv``: the first N rows are for training and the first anomaly
begins at row M. The whole series is scored, training rows included. Other collections may use
``DATASET_WHAT_tr_N_1st_M.csv``.
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axonad.data.readers.limits import largest_series
from axonad.data.series import Series
from axonad.errors import FileError, InputError, UnknownNameError, suggest

NAME = re.compile(
    r"(?:(?P<number>\d+)_(?P<dataset>[^_]+)_id_\d+_(?P<domain>[^_]+)|(?P<other>[^\W\d][^_]*)_[^/]+?)"
    r"_tr_(?P<train>\d+)_1st_(?P<first>\d+)\.csv"
)
TUNING = (
    4, 11, 23, 28, 40, 49, 62, 72, 82, 90, 107, 113, 120, 126, 131, 140, 149, 164, 178, 195,
)  # fmt: skip
"""Numbers of the tuning series of the benchmark, the only ones on which settings are chosen."""

BAD_MEMBER = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True)
class SeriesName:
    """The parts of a file name of the benchmark."""

    file: str
    number: int | None  # None in other collections
    dataset: str
    domain: str
    train_rows: int
    first_anomaly: int

    @property
    def is_tuning(self) -> bool:
        """Whether the series is one for choosing settings, not for reporting."""
        return self.number in TUNING

    @property
    def name(self) -> str:
        """The file name without the split."""
        return self.file.rpartition("_tr_")[0]


def parse_name(file: str) -> SeriesName:
    """Return the parts of a file name.

    >>> parse_name("002_MSL_id_1_Sensor_tr_500_1st_900.csv").train_rows
    500
    """
    found = NAME.fullmatch(Path(file).name)
    if found is None:
        raise InputError(
            f"{file!r} is not a TSB-AD name; expected NNN_DATASET_id_K_DOMAIN_tr_N_1st_M.csv"
        )
    return SeriesName(
        file=Path(file).name,
        number=None if found["number"] is None else int(found["number"]),
        dataset=found["dataset"] or found["other"],
        domain=found["domain"] or "",
        train_rows=int(found["train"]),
        first_anomaly=int(found["first"]),
    )


def list_series(source: str | Path) -> list[SeriesName]:
    """Return the series in a folder or a zip, sorted by file name."""
    source = Path(source)
    if source.is_dir():
        files = [path.name for path in source.rglob("*.csv")]
    elif source.is_file():
        with _open(source) as archive:
            files = archive.namelist()
    else:
        raise FileError(f"{source} does not exist; expected a folder or a zip of TSB-AD series")
    named = [parse_name(file) for file in files if NAME.fullmatch(Path(file).name)]
    return sorted(named, key=lambda name: name.file)


def read_series(source: str | Path, names: Sequence[SeriesName]) -> Iterator[Series]:
    """Yield the named series without rows that have missing values, as in TSB-AD.

    A file without a column ``Label`` gives a series without labels.
    """
    source = Path(source)
    with nullcontext() if source.is_dir() else _open(source) as archive:
        files = map(str, source.rglob("*.csv")) if archive is None else archive.namelist()
        known = {Path(file).name: file for file in files}
        for name in names:
            if name.file not in known:
                hint = suggest(name.file, known)
                raise UnknownNameError(f"{source} has no series {name.file!r}{hint}")
            file = known[name.file]
            data = _read_file(Path(file)) if archive is None else _read_member(archive, file)
            yield _parse(data, name.file)


def _open(source: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as error:
        raise FileError(f"{source} cannot be read as a zip: {error}") from None


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def _read_member(archive: zipfile.ZipFile, file: str) -> bytes:
    size = archive.getinfo(file).file_size
    if size > largest_series():
        raise FileError(f"{file} in {archive.filename} is too large to read: {size} bytes")
    try:
        return archive.read(file)
    except (*BAD_MEMBER, OSError) as error:
        raise FileError(f"{file} in {archive.filename} cannot be read: {error}") from None


def _parse(data: bytes, name: str) -> Series:
    from axonad.data.readers.reading import read_bytes

    series = read_bytes(data, name)
    complete = np.asarray(np.isfinite(series.values).all(axis=1))
    return series if complete.all() else series.select(complete)
