"""Tables of cost: time, memory, and the runs that failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from axonad.bench.row import Row
from axonad.report.grid import FloatArray, Grid, check_rows, collect, describe, line_names
from axonad.report.statistics import summarise_grid
from axonad.report.table import Column, Line, Table
from axonad.report.tables import DETECTOR, MISSING, SERIES, note_gaps


def runtime_table(rows: Iterable[Row]) -> Table:
    """Return mean fit and score seconds, milliseconds per scored step and peak memory.

    The fastest to fit and score comes first. Only runs that finished count.
    """
    kept = check_rows(rows)
    fit, score = collect(kept, metric="fit_seconds"), collect(kept, metric="score_seconds")
    fits, scores = summarise_grid(fit), summarise_grid(score)
    per_step = _milliseconds(score, collect(kept, metric="steps"))
    memory = {
        heading: peaks
        for heading, column in (("memory MB", "memory_mb"), ("device MB", "device_memory_mb"))
        if (peaks := _peaks(kept, column))
    }
    lines: list[Line] = [
        (
            name, fits[i].mean, scores[i].mean, float(per_step[i]),
            *(peaks.get(name) for peaks in memory.values()), fits[i].series, fits[i].missing,
        )
        for i, name in enumerate(fit.names)
    ]  # fmt: skip
    return Table(
        title="Time and memory",
        columns=(
            DETECTOR,
            Column(heading="fit s", digits=2, best="min"),
            Column(heading="score s", digits=2, best="min"),
            Column(heading="ms per step", digits=4, best="min"),
            *(Column(heading=heading, digits=0) for heading in memory),
            SERIES,
            MISSING,
        ),
        rows=tuple(sorted(lines, key=_total_time)),
        notes=(fit.setting, *_explain(kept), *note_gaps(fits)),
    )


def failure_table(rows: Iterable[Row]) -> Table:
    """Return the runs that failed and why; a table without rows where none did."""
    kept = check_rows(rows)
    naming = line_names(kept)
    failed = [
        (naming[r.label, r.protocol], r.dataset, r.series, r.seed, r.status, r.reason)
        for r in kept
        if not r.is_ok
    ]
    headings = ("detector", "data set", "series", "seed", "status", "reason")
    return Table(
        title="Runs that failed",
        columns=tuple(
            Column(heading=heading, style="count" if heading == "seed" else "text")
            for heading in headings
        ),
        rows=tuple(sorted(failed)),
        notes=(describe(kept), f"{len(failed)} of {len(kept)} runs failed."),
    )


def _milliseconds(score: Grid, steps: Grid) -> FloatArray:
    """Return, per line, all scoring time over all steps scored."""
    both = ~np.isnan(score.values) & ~np.isnan(steps.values)
    spent = 1000 * np.where(both, score.values, 0).sum(axis=1)
    total = np.where(both, steps.values, 0).sum(axis=1)
    result: FloatArray = np.full_like(spent, np.nan)
    np.divide(spent, total, out=result, where=total > 0)
    return result


def _peaks(rows: Sequence[Row], column: str) -> dict[str, float]:
    naming = line_names(rows)
    found: dict[str, float] = {}
    for row in rows:
        value = row.value(column) if row.is_ok else None
        if value is not None:
            name = naming[row.label, row.protocol]
            found[name] = max(value, found.get(name, value))
    return found


def _total_time(line: Line) -> tuple[bool, float, str]:
    name, fit, score = line[:3]
    total = float(fit) + float(score)  # type: ignore[arg-type]
    return math.isnan(total), total, str(name)


def _explain(rows: Sequence[Row]) -> list[str]:
    """Say what the numbers are and where they were taken: machines do not compare."""
    places = sorted(
        {
            f"{row.device or 'unknown device'} (threads: {row.threads or 'unknown'})"
            for row in rows
            if row.is_ok
        }
    )
    notes = ["Means over series, peaks of memory; ms per step: all scoring time over all steps."]
    if places:
        notes.append(f"Run on {'; '.join(places)}.")
    if len(places) > 1:
        notes.append("Times of different devices or thread counts do not compare.")
    return notes
