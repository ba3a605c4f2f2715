"""``axonad bench table``: what the rows say, as tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import read_rows
from axonad.bench.row import Row
from axonad.cli.bench.options import (
    FORMATS,
    Detectors,
    Metric,
    ProtocolName,
    SeriesParts,
    Split,
    WindowRule,
    check_quality,
    choose,
    render,
    write_tables,
)
from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out
from axonad.config import check_choice
from axonad.errors import AxonADError, InputError
from axonad.report.alarms import alarm_table
from axonad.report.combination import PARTS, combination_table
from axonad.report.comparison_figures import draw_pairwise, draw_runtime
from axonad.report.comparisons import pairwise_table
from axonad.report.costs import failure_table, runtime_table
from axonad.report.critical_difference import draw_critical_difference
from axonad.report.quality import dataset_table, kind_table, parts_table, score_table
from axonad.report.results_grid import line_names
from axonad.report.table import Table

KINDS = (
    "scores", "macro", "datasets", "kinds", "parts", "combination", "alarms", "pairwise",
    "runtime", "failures",
)  # fmt: skip


def table(
    results: Annotated[Path, typer.Argument(help="Folder of a run, or its rows as CSV/Parquet.")],
    kind: Annotated[
        str, typer.Option("--table", "-t", help=f"One of {', '.join(KINDS)}.")
    ] = "scores",
    metric: Metric = "VUS-PR",
    reference: Annotated[
        str | None,
        typer.Option(help="Detector to compare all others with. Default: AxonAD, if it is there."),
    ] = None,
    detectors: Detectors = None,
    series: SeriesParts = None,
    split: Split = None,
    protocol: ProtocolName = None,
    window: WindowRule = None,
    form: Annotated[str, typer.Option("--format", "-f", help=", ".join(FORMATS))] = "text",
    target: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write all tables and figures into this folder.", show_default=False
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Show a table of a run's rows, or write all of them with their figures."""
    check_choice("table", kind, KINDS)
    check_choice("format", form, FORMATS)
    rows = choose(
        read_rows(results), detectors=detectors, series=series, split=split, protocol=protocol,
        window=window,
    )  # fmt: skip
    metric = check_quality(metric, rows)
    made = _makers(rows, metric, reference)
    console = out()
    if target is None:
        if kind not in made:
            raise InputError(f"these rows give no table {kind!r}; they give {', '.join(made)}")
        console.print(render(made[kind](), form).rstrip("\n"), markup=False)
        return
    tables, missing = _make_all(made)
    write_tables(target, tables, force=force)
    drawn, undrawn = _draw(target, rows, metric, reference, force=force)
    console.print(
        f"wrote {len(tables)} tables (.md, .tex, .csv) and {drawn} figures to {target}",
        markup=False,
    )
    for name, reason in {**missing, **undrawn}.items():
        console.print(f"  no {name}: {reason}", style="yellow", markup=False)


def _make_all(makers: dict[str, Callable[[], Table]]) -> tuple[dict[str, Table], dict[str, str]]:
    """Return the tables, and why some cannot be made."""
    tables, missing = {}, {}
    for name, make in makers.items():
        try:
            tables[name] = make()
        except AxonADError as error:
            missing[f"table {name!r}"] = str(error)
    return tables, missing


def _makers(rows: list[Row], metric: str, reference: str | None) -> dict[str, Callable[[], Table]]:
    """Return the tables these rows can give."""
    made: dict[str, Callable[[], Table]] = {
        "scores": partial(score_table, rows),
        "macro": partial(score_table, rows, over="datasets"),
        "datasets": partial(dataset_table, rows, metric=metric),
        "runtime": partial(runtime_table, rows),
    }
    if any(row.kinds for row in rows):
        made["kinds"] = partial(kind_table, rows)
    if any(row.parts for row in rows):
        made["parts"] = partial(parts_table, rows)
    if any(set(PARTS) <= set(row.parts) for row in rows):
        made["combination"] = partial(combination_table, rows)
    if any(row.alarms for row in rows):
        made["alarms"] = partial(alarm_table, rows)
    name = _reference(rows, reference)
    if name is not None:
        made["pairwise"] = partial(pairwise_table, rows, reference=name, metric=metric)
    if any(not row.is_ok for row in rows):
        made["failures"] = partial(failure_table, rows)
    return {kind: made[kind] for kind in KINDS if kind in made}


def _reference(rows: list[Row], given: str | None) -> str | None:
    """Return the detector to compare with; None where there is nothing to compare."""
    names = line_names(rows)
    finished = Counter(names[r.label, r.protocol] for r in rows if r.is_ok)
    usable = [name for name in names.values() if finished[name] > 1]
    if len(usable) < 2:
        return None
    if given is not None:
        return given
    ours = [name for name in usable if name.split(" (")[0] == "AxonAD"]
    return ours[-1] if ours else usable[0]


def _draw(
    folder: Path, rows: list[Row], metric: str, reference: str | None, *, force: bool
) -> tuple[int, dict[str, str]]:
    """Draw what can be drawn, as PNG and SVG; return how many, and why some cannot be."""
    name = _reference(rows, reference)
    draw: dict[str, Callable[[Path], None]] = {
        "runtime": lambda path: draw_runtime(path, rows=rows, metric=metric)
    }
    if name is not None:
        draw["pairwise"] = lambda path: draw_pairwise(
            path, rows=rows, reference=name, metric=metric
        )
        finished = {(row.label, row.protocol) for row in rows if row.is_ok}
        ranked = [row for row in rows if (row.label, row.protocol) in finished]
        draw["ranks"] = lambda path: draw_critical_difference(path, rows=ranked, metric=metric)
    missing = {}
    for figure, make in draw.items():
        for ending in (".png", ".svg"):
            path = folder / f"{figure}{ending}"
            check_target(path, force=force)
            try:
                make(path)
            except AxonADError as error:
                missing[f"figure {figure!r}"] = str(error)
    return len(draw) - len(missing), missing
