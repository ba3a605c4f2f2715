"""The runtime table: the paper's times and ours, compared by ratios to AxonAD."""

from __future__ import annotations

import math
from collections.abc import Iterable

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import Times, paper_runtime
from axonad.paper.tables.scores import OURS
from axonad.report.costs import explain, runtimes
from axonad.report.quality import DETECTOR
from axonad.report.results_grid import check_rows, describe
from axonad.report.table import Column, Line, Table


def our_times(rows: Iterable[Row]) -> dict[str, Times]:
    """Return the times of every detector with a successful run, the paper's five first."""
    kept = check_rows(rows)
    if len({row.protocol for row in kept}) > 1:
        raise InputError("the rows mix protocols; choose one (--protocol)")
    found = {
        name: Times(time.fit.mean, time.score.mean, time.milliseconds)
        for name, time in runtimes(kept).items()
        if time.fit.series
    }
    if OURS not in found:
        raise InputError(f"times are shown as ratios to {OURS}, which has no successful row")
    return {
        name: found[name] for name in dict.fromkeys([*paper_runtime(), *found]) if name in found
    }


def paper_runtime_table(rows: Iterable[Row]) -> Table:
    """Return the times of every detector, the paper's line above ours."""
    kept = check_rows(rows)
    ours, theirs = our_times(kept), paper_runtime()
    lines: list[Line] = []
    for name in dict.fromkeys([*theirs, *ours]):
        for figures, found in (("paper", theirs), ("ours", ours)):
            if name in found:
                time, base = found[name], found[OURS]
                lines.append(
                    (
                        name, figures, *time, _ratio(time.fit_seconds, base.fit_seconds),
                        time.total_seconds / base.total_seconds,
                        _ratio(time.milliseconds, base.milliseconds),
                    )
                )  # fmt: skip
    return Table(
        title="Runtime, the paper's and ours",
        columns=(
            DETECTOR, Column(heading="figures", style="text"),
            Column(heading="fit s", digits=2), Column(heading="score s", digits=2),
            Column(heading="ms per window", digits=4),
            *(Column(heading=f"{what} / {OURS}") for what in ("fit", "fit + score", "ms")),
        ),
        rows=tuple(lines),
        notes=(
            describe(kept),
            "The paper: 80,000 windows on an Apple M3 Max; all of IForest's time counts as "
            "scoring. Ours: fitted on the first half (with the scores of the training rows, which "
            "give the threshold), the second half scored. A first fit includes loading libraries.",
            *explain(kept),
        ),
    )  # fmt: skip


def _ratio(time: float, base: float) -> float:
    return time / base if base else math.nan
