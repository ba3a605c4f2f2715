"""A finding: a row of the bench, and beside its metrics what was found inside the detector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axonad.bench.ledger import Ledger
from axonad.bench.row import COLUMNS, Row
from axonad.errors import FileError, InputError
from axonad.paper.diagnostics.measure import MEASURES

FILE = "findings.csv"
DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was run on what and how it was judged, and the measures that exist."""

    row: Row
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The job's key."""
        return self.row.key

    def to_record(self) -> dict[str, Any]:
        """Return the columns of the row, then a column per measure."""
        return self.row.to_record() | {name: self.measures.get(name) for name in MEASURES}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Finding:
        """Return the finding of a flat record, typed."""
        measured = {name: record[name] for name in MEASURES}
        row = Row.from_record({k: v for k, v in record.items() if k not in measured})
        values = {name: value for name, value in measured.items() if value not in (None, "")}
        try:
            return cls(row=row, measures={name: float(value) for name, value in values.items()})
        except ValueError as error:
            raise InputError(f"a measure must be a number: {error}") from None


def rounded(measures: Mapping[str, float]) -> dict[str, float]:
    """Return the measures that exist, to six significant digits."""
    return {k: float(f"{v:.{DIGITS}g}") for k, v in measures.items() if math.isfinite(v)}


class Findings(Ledger[Finding]):
    """A folder of findings, open for one run at a time. Use as a context manager."""

    file_name = FILE
    columns = (*COLUMNS, *MEASURES)

    def parse(self, record: Mapping[str, Any]) -> Finding:
        """Return the finding of a line."""
        return Finding.from_record(record)


def read_findings(folder: Path) -> list[Finding]:
    """Return the findings in a folder, every job's last."""
    if not (folder / FILE).is_file():
        raise FileError(
            f"{folder / FILE} does not exist; expected what `axonad paper diagnostics` wrote"
        )
    return Findings(folder).read()
