"""Summary features of training segments, kept on disk: read once, compared as often as asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from axonad import __version__
from axonad.bench.ledger import Ledger
from axonad.bench.machine import commit
from axonad.bench.sources import SeriesRef, load_training
from axonad.errors import FileError, InputError
from axonad.paper.transfer.check import Transfer, check_transfer
from axonad.paper.transfer.features import summarise

FILE = "segments.csv"
FEWEST = 2  # others to hold a target against
ROLES = ("target", "other")


@dataclass(frozen=True, kw_only=True)
class SegmentRow:
    """The features of one training segment, and what it was; labels are not looked at."""

    key: str
    role: str
    dataset: str
    series: str
    split: str
    steps: int
    channels: int
    fingerprint: str
    features: Mapping[str, float]
    version: str
    commit: str

    def to_record(self) -> dict[str, Any]:
        """Return its columns, the features as JSON."""
        return asdict(self) | {"features": json.dumps(dict(self.features))}


class Segments(Ledger[SegmentRow]):
    """A folder with the features of segments, open for one run. Use as a context manager."""

    file_name = FILE
    columns = tuple(SegmentRow.__dataclass_fields__)

    def parse(self, record: Mapping[str, Any]) -> SegmentRow:
        """Return the segment of a line."""
        numbers = {name: int(record[name]) for name in ("steps", "channels")}
        features = json.loads(record["features"])
        if not isinstance(features, dict) or record["role"] not in ROLES:
            raise InputError(f"no segment has role {record['role']!r} and features {features!r}")
        return SegmentRow(**{**record, **numbers, "features": features})


def segment_key(role: str, ref: SeriesRef) -> str:
    """Return a short hash of what names a segment; where it lies does not count."""
    text = json.dumps([role, ref.source, ref.name, sorted(ref.options.items())], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def summarise_segments(
    refs: Sequence[SeriesRef], segments: Segments, *, role: str
) -> Generator[SegmentRow]:
    """Yield the row of every segment, those that are on the disk without reading the series."""
    known = {row.key: row for row in segments.rows}
    for ref in refs:
        row = known.get(segment_key(role, ref))
        if row is None:
            row = _summarise(role, ref)
            segments.append(row)
        yield row


def compare_segments(rows: Sequence[SegmentRow]) -> list[tuple[str, Transfer]]:
    """Return every target held against the tuning series, all series and all data sets there are.

    A data set is the mean of its series; all targets together are one.
    """
    targets = [row for row in rows if row.role == "target"]
    others = [row for row in rows if row.role == "other"]
    if not targets or len(others) < FEWEST:
        raise InputError(
            f"a transfer check needs a target and {FEWEST} others, got {len(targets)} and "
            f"{len(others)}"
        )
    tuning = [row for row in others if row.split == "tuning"]
    chosen = {"tuning series": tuning if len(tuning) < len(others) else [], "all series": others}
    found = [
        (text, check_transfer({r.series: r.features for r in [*held, one]}, one.series))
        for text, held in chosen.items()
        if len(held) >= FEWEST
        for one in targets
    ]
    sets = {row.dataset: _mean([r for r in others if r.dataset == row.dataset]) for row in others}
    if len(sets) >= FEWEST:
        name = f"{targets[0].dataset}, all"
        found.append(("all data sets", check_transfer({**sets, name: _mean(targets)}, name)))
    return found


def _mean(rows: Sequence[SegmentRow]) -> dict[str, float]:
    return {name: float(np.mean([r.features[name] for r in rows])) for name in rows[0].features}


def read_segments(folder: Path) -> list[SegmentRow]:
    """Return the segments in a folder."""
    if not (folder / FILE).is_file():
        raise FileError(
            f"{folder / FILE} does not exist; expected what `axonad paper transfer` wrote"
        )
    return Segments(folder).read()


def _summarise(role: str, ref: SeriesRef) -> SegmentRow:
    values = load_training(ref)
    digest = hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return SegmentRow(
        key=segment_key(role, ref),
        role=role,
        dataset=ref.dataset,
        series=ref.name,
        split=ref.split,
        steps=len(values),
        channels=values.shape[1],
        fingerprint=digest.hexdigest()[:16],
        features=summarise(values),
        version=__version__,
        commit=commit(),
    )
