"""A finding: a benchmark row, and measures of the detector's queries and score parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from axonad.bench.ledger import Ledger
from axonad.bench.row import COLUMNS, Row
from axonad.errors import InputError
from axonad.paper.diagnostics.as_run import AS_RUN
from axonad.paper.diagnostics.measure import MEASURES

FILE = "findings.csv"
DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The row of a job and those measures, of the names listed, that exist for it."""

    row: Row
    measures: Mapping[str, float] = field(default_factory=dict)

    names: ClassVar[tuple[str, ...]] = MEASURES

    @property
    def key(self) -> str:
        """The job's key."""
        return self.row.key

    def to_record(self) -> dict[str, Any]:
        """Return the columns of the row, then one column per measure."""
        return self.row.to_record() | {name: self.measures.get(name) for name in self.names}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the finding of a flat record, with types restored."""
        row = Row.from_record({k: v for k, v in record.items() if k not in cls.names})
        texts = {name: record[name] for name in cls.names if record[name] not in (None, "")}
        try:
            return cls(row=row, measures={name: float(text) for name, text in texts.items()})
        except ValueError as error:
            raise InputError(f"a measure must be a number: {error}") from None


@dataclass(frozen=True, kw_only=True)
class AsRunFinding(Finding):
    """A finding with the measures of the authors' script as well."""

    names: ClassVar[tuple[str, ...]] = (*MEASURES, *AS_RUN)


def rounded(measures: Mapping[str, float]) -> dict[str, float]:
    """Return the finite measures, rounded to six significant digits."""
    return {k: float(f"{v:.{DIGITS}g}") for k, v in measures.items() if math.isfinite(v)}


class Findings(Ledger[Finding]):
    """A folder of findings, open for one process at a time; a context manager."""

    entry = Finding
    file_name = FILE
    columns = (*COLUMNS, *Finding.names)
    written_by = "axonad paper diagnostics"


class AsRunFindings(Findings):
    """A folder of findings with the measures of the authors' script as well."""

    entry = AsRunFinding
    columns = (*COLUMNS, *AsRunFinding.names)
    written_by = "axonad paper diagnostics --as-run"


def read_findings(folder: Path) -> list[Finding]:
    """Return the findings in a folder, the last one of every job."""
    return Findings(folder).read()
