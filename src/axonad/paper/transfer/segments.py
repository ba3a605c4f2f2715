"""Summary features of training segments, saved to disk so that every series is read only once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from axonad import __version__
from axonad.bench.ledger import Ledger
from axonad.bench.machine import commit
from axonad.bench.sources import SeriesRef, load_training
from axonad.errors import InputError
from axonad.paper.transfer.check import Transfer, check_transfer, mean_features
from axonad.paper.transfer.features import summary_features

FILE = "segments.csv"
MIN_OTHERS = 2  # to compare a target with
ROLES = ("target", "other")


@dataclass(frozen=True, kw_only=True)
class SegmentRow:
    """The features of one training segment and where they come from; labels are not used."""

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
        """Return the values of the columns, the features as JSON."""
        return asdict(self) | {"features": json.dumps(dict(self.features))}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the segment of a flat record, with types restored."""
        numbers = {name: int(record[name]) for name in ("steps", "channels")}
        features = json.loads(record["features"])
        if not isinstance(features, dict) or record["role"] not in ROLES:
            raise InputError(
                f"role must be one of {', '.join(ROLES)} and features a JSON object, "
                f"got {record['role']!r} and {features!r}"
            )
        return cls(**{**record, **numbers, "features": features})


class Segments(Ledger[SegmentRow]):
    """A folder of segment features, open for one process at a time; a context manager."""

    entry = SegmentRow
    file_name = FILE
    columns = tuple(SegmentRow.__dataclass_fields__)
    written_by = "axonad paper transfer"


def segment_key(role: str, ref: SeriesRef) -> str:
    """Return a short hash of role and reference; the folder of the data does not matter."""
    text = json.dumps([role, ref.source, ref.name, sorted(ref.options.items())], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def summarise_segments(
    refs: Sequence[SeriesRef], segments: Segments, *, role: str
) -> Generator[SegmentRow]:
    """Yield the row of every segment; a series whose row is on disk is not read again."""
    known = {row.key: row for row in segments.rows}
    for ref in refs:
        row = known.get(segment_key(role, ref))
        if row is None:
            values = load_training(ref)
            content = np.ascontiguousarray(values, dtype="<f8").tobytes()
            row = SegmentRow(
                key=segment_key(role, ref),
                role=role,
                dataset=ref.dataset,
                series=ref.name,
                split=ref.split,
                steps=len(values),
                channels=values.shape[1],
                fingerprint=hashlib.sha256(content).hexdigest()[:16],
                features=summary_features(values),
                version=__version__,
                commit=commit(),
            )
            segments.append(row)
        yield row


def compare_segments(rows: Sequence[SegmentRow]) -> list[tuple[str, Transfer]]:
    """Compare every target with the tuning series, with all series, and with all data sets.

    Return pairs of what it was compared with and the result. A data set is the mean of its series;
    all targets together count as one data set.
    """
    targets = [row for row in rows if row.role == "target"]
    others = [row for row in rows if row.role == "other"]
    if not targets or len(others) < MIN_OTHERS:
        raise InputError(
            f"a transfer check needs a target and {MIN_OTHERS} others, got {len(targets)} and "
            f"{len(others)}"
        )
    tuning = [row for row in others if row.split == "tuning"]
    chosen = {"tuning series": tuning if len(tuning) < len(others) else [], "all series": others}
    found = [
        (text, check_transfer({r.series: r.features for r in [*among, one]}, one.series))
        for text, among in chosen.items()
        if len(among) >= MIN_OTHERS
        for one in targets
    ]
    sets = {
        name: mean_features([row.features for row in others if row.dataset == name])
        for name in dict.fromkeys(row.dataset for row in others)
    }
    if len(sets) >= MIN_OTHERS:
        name = f"{targets[0].dataset}, all"
        sets[name] = mean_features([row.features for row in targets])
        found.append(("all data sets", check_transfer(sets, name)))
    return found


def read_segments(folder: Path) -> list[SegmentRow]:
    """Return the segments in a folder."""
    return Segments(folder).read()
