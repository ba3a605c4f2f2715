"""Comparison tables: every detector against one, two runs, and ours against published values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.quality import DETECTOR, SERIES
from axonad.report.results_grid import (
    FloatArray,
    check_rows,
    check_same_content,
    collect,
    describe,
    line_names,
)
from axonad.report.statistics import RESAMPLES, Comparison, compare, holm
from axonad.report.table import Cell, Column, Line, Table

SIGNIFICANT = 0.05
LARGEST = 5  # series with the largest differences, named in a note
PAIR_COLUMNS = (
    *(Column(heading=heading, style="count") for heading in ("wins", "losses", "ties")),
    Column(heading="mean difference", style="signed", digits=4),
    Column(heading="95 % interval", style="interval", digits=4),
    Column(heading="median difference", style="signed", digits=4),
    Column(heading="Wilcoxon p", style="p"),
    Column(heading="Holm p", style="p"),
)


def pairwise_table(
    rows: Iterable[Row],
    *,
    reference: str,
    metric: str = "VUS-PR",
) -> Table:
    """Return every detector paired with the reference, as in the paper's Tables S3 and S4."""
    rows = list(rows)
    found = compare(rows, reference=reference, metric=metric)
    name = found[0].reference
    lines: list[Line] = [
        (
            c.baseline, c.win_rate, *_pair_cells(c),
            Cell(c.p_holm, mark="†" if c.p_holm >= SIGNIFICANT else ""), c.series, c.left_out,
        )
        for c in found
    ]  # fmt: skip
    note = f"† not significant at {SIGNIFICANT} after Holm's correction over the table."
    return Table(
        title=f"{metric}: every detector against {name}",
        columns=(
            DETECTOR, Column(heading="win rate"), *PAIR_COLUMNS, SERIES,
            Column(heading="left out", style="count"),
        ),
        rows=tuple(lines),
        notes=(
            collect(rows, metric=metric).setting,
            f"Differences are detector minus {name}: negative where {name} is better. Win rate: "
            "series won by the detector per series in common; ties are no wins.",
            f"Interval: percentile bootstrap of the mean difference, {RESAMPLES} resamples, seed "
            "0. Left out: series that one of the two lacks.",
            *([note] if any(c.p_holm >= SIGNIFICANT for c in found) else []),
        ),
    )  # fmt: skip


def runs_table(first: Iterable[Row], second: Iterable[Row], *, metric: str = "VUS-PR") -> Table:
    """Return the second run paired with the first, one line per detector and protocol of both.

    Holm's correction is over the lines. Lines with fewer than two series in common are dashes.
    """
    runs = {"first run": check_rows(first), "second run": check_rows(second)}
    every = [row for rows in runs.values() for row in rows]
    check_same_content(every)
    common = sorted(set.intersection(*(set(line_names(rows)) for rows in runs.values())))
    if not common:
        raise InputError("the two runs have no detector and protocol in common")
    found: dict[tuple[str, str], Comparison] = {}
    for line in common:
        both = [
            replace(row, key=f"{row.key}-{run}", label=run, suite="both")
            for run, rows in runs.items()
            for row in rows
            if (row.label, row.protocol) == line
        ]
        with suppress(InputError):  # fewer than two series in common
            found[line] = compare(both, reference="first run", metric=metric)[0]
    corrected = dict(zip(found, holm([c.p_value for c in found.values()]), strict=True))
    lines: list[Line] = []
    for line in common:
        cells: Line = (None,) * (len(PAIR_COLUMNS) + 1)
        if line in found:
            cells = (*_pair_cells(found[line]), corrected[line], found[line].series)
        lines.append((f"{line[0]} ({line[1]})", *cells))
    return Table(
        title=f"{metric}: the second run against the first",
        columns=(DETECTOR, *PAIR_COLUMNS, SERIES),
        rows=tuple(lines),
        notes=(
            describe(every),
            "Differences are second minus first; wins are the second run's. Holm's correction is "
            "over the table.",
        ),
    )


def _pair_cells(c: Comparison) -> Line:
    """Return the cells of ``PAIR_COLUMNS`` but the last."""
    interval = Cell(None, (c.low, c.high))
    return c.wins, c.losses, c.ties, c.mean_delta, interval, c.median_delta, c.p_value


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """One detector beside published values, on the series that both have.

    ``missing`` counts published series without a value of ours, ``unpublished`` the reverse.
    """

    detector: str
    series: tuple[str, ...]
    datasets: tuple[str, ...]
    ours: FloatArray
    published: FloatArray
    missing: int
    unpublished: int
    setting: str

    @property
    def differences(self) -> FloatArray:
        """Ours minus published."""
        return self.ours - self.published


def compare_published(
    rows: Iterable[Row], *, published: Mapping[str, float], metric: str = "VUS-PR"
) -> Published:
    """Return the values of one detector beside published ones, matched by name of the series."""
    grid = collect(rows, metric=metric)
    if len(grid.names) > 1:
        raise InputError(
            f"rows are of {', '.join(grid.names)}; choose one detector and protocol "
            "(--detectors, --protocol)"
        )
    bad = [series for series, value in published.items() if not math.isfinite(value)]
    if bad:
        raise InputError(f"published values must be finite; that of {bad[0]} is not")
    (values,) = grid.values
    ours = {s: i for i, s in enumerate(grid.series) if not math.isnan(values[i])}
    both = [i for series, i in ours.items() if series in published]
    if not both:
        raise InputError(
            f"no published series is among ours: {next(iter(published), 'none')!r} is published, "
            f"{grid.series[0]!r} is ours"
        )
    return Published(
        detector=grid.names[0],
        series=tuple(grid.series[i] for i in both),
        datasets=tuple(grid.datasets[i] for i in both),
        ours=values[both],
        published=np.array([published[grid.series[i]] for i in both]),
        missing=len(published) - len(both),
        unpublished=len(ours) - len(both),
        setting=grid.setting,
    )


def comparison_table(
    rows: Iterable[Row], *, published: Mapping[str, float], metric: str = "VUS-PR"
) -> Table:
    """Return ours beside published: over all series, and per data set.

    The notes name the series with the largest differences.
    """
    found = compare_published(rows, published=published, metric=metric)
    of = np.array(found.datasets)
    lines = [_published_line("all series", found, np.ones(len(of), dtype=bool))]
    lines += [_published_line(name, found, of == name) for name in sorted(set(found.datasets))]
    by_size = sorted(zip(-np.abs(found.differences), found.series, found.differences, strict=True))
    far = [f"{series} ({difference:+.3f})" for _, series, difference in by_size[:LARGEST]]
    return Table(
        title=f"{metric} of {found.detector}: ours and published",
        columns=(
            Column(heading="data set", style="text"), SERIES,
            Column(heading="ours"), Column(heading="published"),
            Column(heading="difference", style="signed"), Column(heading="mean |difference|"),
            Column(heading="median |difference|"), Column(heading="largest |difference|"),
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            f"{len(found.series)} series compared; {found.missing} published ones without a value "
            f"of ours, {found.unpublished} of ours without a published one.",
            f"Largest differences: {', '.join(far)}.",
        ),
    )  # fmt: skip


def _published_line(name: str, found: Published, chosen: NDArray[np.bool_]) -> Line:
    difference = found.differences[chosen]
    far = np.abs(difference)
    return (
        name, int(chosen.sum()), float(found.ours[chosen].mean()),
        float(found.published[chosen].mean()), float(difference.mean()), float(far.mean()),
        float(np.median(far)), float(far.max()),
    )  # fmt: skip
