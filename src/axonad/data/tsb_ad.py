"""The TSB-AD benchmark's files: names that carry the split, in a folder or a zip.

A name ``NNN_DATASET_id_K_DOMAIN_tr_N_1st_M.csv`` says that the first N rows are for training and
the first anomaly begins at row M. The whole series, training rows included, is scored. Other
collections in that manner are read too: ``DATASET_WHAT_tr_N_1st_M.csv``.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from axonad.data.series import Series
from axonad.errors import FileError, InputError, UnknownNameError, suggest

V = TypeVar("V")
NAME = re.compile(
    r"(?:(?P<number>\d+)_(?P<dataset>[^_]+)_id_\d+_(?P<domain>[^_]+)|(?P<other>[^\W\d][^_]*)_[^/]+?)"
    r"_tr_(?P<train>\d+)_1st_(?P<first>\d+)\.csv"
)
TUNING = (
    4, 11, 23, 28, 40, 49, 62, 72, 82, 90, 107, 113, 120, 126, 131, 140, 149, 164, 178, 195,
)  # fmt: skip
"""Numbers of the benchmark's tuning series: settings are chosen on these and on nothing else."""


@dataclass(frozen=True)
class SeriesName:
    """What a file name of the benchmark says."""

    file: str
    number: int | None  # only TSB-AD's own files have one
    dataset: str
    domain: str
    train_rows: int
    first_anomaly: int

    @property
    def is_tuning(self) -> bool:
        """Whether the series is for choosing settings, not for reporting."""
        return self.number in TUNING

    @property
    def name(self) -> str:
        """The file name without what it says of the split."""
        return self.file.rpartition("_tr_")[0]


def parse_name(file: str) -> SeriesName:
    """Return what a file name says.

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
    """Return the names of the benchmark's series in a folder or a zip, by number."""
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
    """Yield the named series; rows with a missing value are dropped, as the benchmark does.

    A file without a column Label gives a series without labels.
    """
    source = Path(source)
    if source.is_dir():
        paths = {path.name: path for path in source.rglob("*.csv")}
        for name in names:
            yield _parse(_find(paths, name.file, source).read_bytes(), name.file)
        return
    with _open(source) as archive:
        members = {Path(member).name: member for member in archive.namelist()}
        for name in names:
            yield _parse(archive.read(_find(members, name.file, source)), name.file)


def _open(source: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as error:
        raise FileError(f"{source} cannot be read as a zip: {error}") from None


def _find(known: dict[str, V], file: str, source: Path) -> V:
    if file not in known:
        raise UnknownNameError(f"{source} has no series {file!r}{suggest(file, known)}")
    return known[file]


def _parse(data: bytes, name: str) -> Series:
    import polars as pl

    from axonad.data.readers.columns import to_series

    frame = pl.read_csv(io.BytesIO(data), infer_schema_length=None)
    series = to_series(frame, name=name)
    whole = np.isfinite(series.values).all(axis=1)
    if whole.all():
        return series
    return Series(
        values=series.values[whole],
        channels=series.channels,
        labels=None if series.labels is None else series.labels[whole],
        name=name,
    )
