"""The real drives of ``driving-dev.zip``: one row per turn of an OBD-II reader, engine stops.

KIT OBD-II reads one channel per row, ten in turn, and repeats the last reading of the others. One
row per turn is kept, the one in which its last channel was read: every reading is kept once, and
all channels are of the same age in all rows. Every tenth row of the file would not do: a gap in
time shifts the turn, and then a row joins channels of two turns.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from axonad import read
from axonad.data.series import Series
from axonad.data.timing import GAP, find_runs, to_seconds

SPEED = "Engine_RPM"
OFF = 300.0  # revolutions a minute below which an engine does not run
AROUND = 3, 60  # rows before and after that belong to an engine stop: the sensors settle


@dataclass(frozen=True)
class Drive:
    """A recording with one row per turn, and which rows of the file these are."""

    series: Series
    rows: NDArray[np.int64]

    @property
    def seconds(self) -> float:
        """Usual time between two rows."""
        return float(np.median(np.diff(to_seconds(self.series.times))))

    @property
    def off(self) -> list[tuple[int, int]]:
        """Rows in which the engine is off, and those around them, before the first start too."""
        before, after = AROUND
        mask = np.zeros(len(self.rows), dtype=bool)
        for start, end in find_runs(self._is_off):
            mask[max(0, start - before) : end + after] = True
        return find_runs(mask)

    @property
    def stops(self) -> list[tuple[int, int]]:
        """Those of ``off`` before and after which the engine runs."""
        return [(a, b) for a, b in self.off if a > 0 and not self._is_off[b - 1]]

    @property
    def _is_off(self) -> NDArray[np.bool_]:
        if SPEED not in self.series.channels:
            return np.zeros(len(self.rows), dtype=bool)
        return np.asarray(self.series.values[:, self.series.channels.index(SPEED)] < OFF)

    @property
    def without_off(self) -> Series:
        """The series with the rows in which the engine is off marked as unusable."""
        mask = np.zeros(len(self.rows), dtype=bool)
        for start, end in self.off:
            mask[start:end] = True
        return Series(
            values=self.series.values, channels=self.series.channels, times=self.series.times,
            name=self.series.name, unusable=mask,
        )  # fmt: skip


def load(path: Path, kind: str, *, tenth: int | None = None) -> list[Drive]:
    """Return the recordings of one kind from an archive or a folder.

    With ``tenth``, every tenth row of the KIT files from that one on is kept instead.
    """
    if path.is_dir():
        series = [read(file) for file in sorted((path / kind).glob("*.csv"))]
    else:
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith(f"{kind}/"))
            archive.extractall(folder, names)
            series = [read(Path(folder) / name) for name in names]
    if kind.startswith("KIT") and tenth is not None:
        rows = slice(tenth, None, 10)
        return [Drive(each.select(rows), np.arange(len(each))[rows]) for each in series]
    if kind.startswith("KIT"):
        return [one_row_per_turn(each) for each in series]
    return [Drive(each, np.arange(len(each))) for each in series]


def one_row_per_turn(series: Series) -> Drive:
    """Return the rows in which the last channel of a turn was read; a gap begins a new turn."""
    steps = np.diff(to_seconds(series.times))
    breaks = np.flatnonzero(steps > GAP * np.median(steps)) + 1
    channels = series.values.shape[1]
    kept = np.zeros(len(series), dtype=bool)
    for start, stop in pairwise([0, *breaks.tolist(), len(series)]):
        rows, columns = np.nonzero(np.diff(series.values[start:stop], axis=0))
        firsts = np.bincount((start + rows + 1 - columns) % channels, minlength=channels)
        if firsts.max() < 0.99 * firsts.sum():
            sys.exit(f"{series.name}: channels are not read one per row, in turn")
        last = int(firsts.argmax()) + channels - 1
        kept[start:stop] = (np.arange(start, stop) - last) % channels == 0
    return Drive(series.select(kept), np.flatnonzero(kept))
