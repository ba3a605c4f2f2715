"""Comparisons: every detector against one, and ours against what others published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.grid import (
    check_rows,
    check_same_content,
    collect,
    describe,
    find_name,
    line_names,
)
from axonad.report.statistics import Comparison, compare, holm
from axonad.report.table import Cell, Column, Line, Table
from axonad.report.tables import DETECTOR, SERIES

FloatArray = NDArray[np.float64]
SIGNIFICANT = 0.05


def pairwise_table(
    rows: Iterable[Row],
    *,
    reference: str,
    metric: str = "VUS-PR",
    seed: int = 0,
    resamples: int = 10_000,
) -> Table:
    """Return every detector paired with the reference, as in the paper's tables S3 and S4."""
    rows = list(rows)
    setting = collect(rows, metric=metric).setting
    found = compare(rows, reference=reference, metric=metric, seed=seed, resamples=resamples)
    name = found[0].reference
    lines: list[Line] = [
        (
            c.baseline, c.win_rate, c.wins, c.losses, c.ties, c.mean_delta,
            Cell(None, (c.low, c.high)), c.median_delta, c.p_value,
            Cell(c.p_holm, mark="†" if c.p_holm >= SIGNIFICANT else ""), c.series, c.left_out,
        )
        for c in found
    ]  # fmt: skip
    counts = [Column(heading=h, style="count") for h in ("wins", "losses", "ties")]
    note = f"† not significant at {SIGNIFICANT} after Holm's correction over the table."
    return Table(
        title=f"{metric}: every detector against {name}",
        columns=(
            DETECTOR, Column(heading="win rate"), *counts,
            Column(heading="mean difference", style="signed", digits=4),
            Column(heading="95 % interval", style="interval", digits=4),
            Column(heading="median difference", style="signed", digits=4),
            Column(heading="Wilcoxon p", style="p"), Column(heading="Holm p", style="p"),
            SERIES, Column(heading="left out", style="count"),
        ),
        rows=tuple(lines),
        notes=(
            setting,
            f"Differences are detector minus {name}: negative where {name} is better. Win rate: "
            "series won by the detector per series in common; ties are no wins.",
            f"Interval: percentile bootstrap of the mean difference, {resamples} resamples, seed "
            f"{seed}. Left out: series that one of the two lacks.",
            *([note] if any(c.p_holm >= SIGNIFICANT for c in found) else []),
        ),
    )  # fmt: skip


def runs_table(first: Iterable[Row], second: Iterable[Row], *, metric: str = "VUS-PR") -> Table:
    """Return the second run paired with the first, a line for each detector and protocol of both.

    Holm's correction is over the lines; a line with fewer than two series in common has none.
    """
    runs = {"first run": check_rows(first), "second run": check_rows(second)}
    check_same_content([row for rows in runs.values() for row in rows])
    lines, found = line_names(runs["first run"]), {}
    common = sorted(set(lines) & set(line_names(runs["second run"])))
    if not common:
        raise InputError("the two runs have no detector and protocol in common")
    for label, protocol in common:
        both = [
            replace(row, key=f"{row.key}-{which}", label=which, suite="both")
            for which, rows in runs.items()
            for row in rows
            if (row.label, row.protocol) == (label, protocol)
        ]
        with suppress(InputError):  # too few series in common: a line of dashes
            found[label, protocol] = compare(both, reference="first run", metric=metric)[0]
    corrected = holm([c.p_value for c in found.values()])
    holms = dict(zip(found, corrected, strict=True))
    rows = [_runs_line(f"{a} ({b})", found.get((a, b)), holms.get((a, b))) for a, b in common]
    counts = [Column(heading=h, style="count") for h in ("wins", "losses", "ties")]
    return Table(
        title=f"{metric}: the second run against the first",
        columns=(
            DETECTOR, *counts,
            Column(heading="mean difference", style="signed", digits=4),
            Column(heading="95 % interval", style="interval", digits=4),
            Column(heading="median difference", style="signed", digits=4),
            Column(heading="Wilcoxon p", style="p"), Column(heading="Holm p", style="p"), SERIES,
        ),
        rows=tuple(rows),
        notes=(
            describe([row for part in runs.values() for row in part]),
            "Differences are second minus first; wins are the second run's. Holm's correction is "
            "over the table.",
        ),
    )  # fmt: skip


def _runs_line(name: str, c: Comparison | None, p_holm: float | None) -> Line:
    if c is None:
        return (name, *[None] * 9)
    return (
        name, c.wins, c.losses, c.ties, c.mean_delta, Cell(None, (c.low, c.high)),
        c.median_delta, c.p_value, p_holm, c.series,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """One detector beside published values, on the series that both have.

    ``missing`` counts published series without a value of ours, ``unpublished`` the reverse.
    """

    detector: str
    metric: str
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
    rows: Iterable[Row],
    *,
    published: Mapping[str, float],
    detector: str | None = None,
    metric: str = "VUS-PR",
) -> Published:
    """Return a detector's values beside published ones, by name of the series.

    ``detector`` may be left out where the rows are of one alone.
    """
    grid = collect(rows, metric=metric)
    if detector is None and len(grid.names) > 1:
        raise InputError(f"rows are of {', '.join(grid.names)}; say which detector to compare")
    name = grid.names[0] if detector is None else find_name(detector, grid.names)
    bad = [series for series, value in published.items() if not math.isfinite(value)]
    if bad:
        raise InputError(f"published values must be finite; that of {bad[0]} is not")
    values = grid.of(name)
    ours = {s: i for i, s in enumerate(grid.series) if not math.isnan(values[i])}
    both = [i for series, i in ours.items() if series in published]
    if not both:
        raise InputError(
            f"no published series is among ours: {next(iter(published), 'none')!r} is published, "
            f"{grid.series[0]!r} is ours"
        )
    return Published(
        detector=name,
        metric=metric,
        series=tuple(grid.series[i] for i in both),
        datasets=tuple(grid.datasets[i] for i in both),
        ours=values[both],
        published=np.array([published[grid.series[i]] for i in both]),
        missing=len(published) - len(both),
        unpublished=len(ours) - len(both),
        setting=grid.setting,
    )


def comparison_table(
    rows: Iterable[Row],
    *,
    published: Mapping[str, float],
    detector: str | None = None,
    metric: str = "VUS-PR",
    largest: int = 5,
) -> Table:
    """Return ours beside published: over all series, and per data set.

    The notes name the series with the largest differences.
    """
    found = compare_published(rows, published=published, detector=detector, metric=metric)
    of = np.array(found.datasets)
    names = sorted(set(found.datasets))
    lines = [_line("all series", found, np.ones(len(of), dtype=bool))]
    lines += [_line(name, found, of == name) for name in names]
    far = [
        f"{found.series[i]} ({found.differences[i]:+.3f})" for i in _largest_first(found)[:largest]
    ]
    return Table(
        title=f"{metric} of {found.detector}: ours and published",
        columns=(
            Column(heading="data set", style="text"), SERIES,
            Column(heading="ours"), Column(heading="published"),
            Column(heading="difference", style="signed"), Column(heading="mean |difference|"),
            Column(heading="median |difference|"), Column(heading="largest |difference|"),
        ),
        rows=tuple(lines),
        notes=(found.setting, _coverage(found), f"Largest differences: {', '.join(far)}."),
    )  # fmt: skip


def comparison_series_table(
    rows: Iterable[Row],
    *,
    published: Mapping[str, float],
    detector: str | None = None,
    metric: str = "VUS-PR",
) -> Table:
    """Return ours beside published for every series, the largest difference first."""
    found = compare_published(rows, published=published, detector=detector, metric=metric)
    lines: list[Line] = [
        (
            found.series[i], found.datasets[i], float(found.ours[i]), float(found.published[i]),
            float(found.differences[i]),
        )
        for i in _largest_first(found)
    ]  # fmt: skip
    return Table(
        title=f"{metric} of {found.detector} per series: ours and published",
        columns=(
            Column(heading="series", style="text"), Column(heading="data set", style="text"),
            Column(heading="ours"), Column(heading="published"),
            Column(heading="difference", style="signed"),
        ),
        rows=tuple(lines),
        notes=(found.setting, _coverage(found)),
    )  # fmt: skip


def _line(name: str, found: Published, chosen: NDArray[np.bool_]) -> Line:
    difference = found.differences[chosen]
    far = np.abs(difference)
    return (
        name, int(chosen.sum()), float(found.ours[chosen].mean()),
        float(found.published[chosen].mean()), float(difference.mean()), float(far.mean()),
        float(np.median(far)), float(far.max()),
    )  # fmt: skip


def _largest_first(found: Published) -> list[int]:
    far = np.abs(found.differences)
    return sorted(range(far.size), key=lambda i: (-far[i], found.series[i]))


def _coverage(found: Published) -> str:
    return (
        f"{len(found.series)} series compared; {found.missing} published ones without a value of "
        f"ours, {found.unpublished} of ours without a published one."
    )
