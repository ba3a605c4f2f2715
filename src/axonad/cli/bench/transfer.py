"""``axonad bench transfer``: whether a data set, seen without labels, is an outlier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench import sources
from axonad.bench.suite import Suite, read_suite
from axonad.cli.bench.options import FORMATS, render, seed_numbers
from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out
from axonad.config import check_choice
from axonad.paper.figures.transfer import draw_transfer
from axonad.paper.tables.transfer import transfer_table
from axonad.paper.transfer.check import UNITS, Segment, Transfer, check_transfer, dataset_features
from axonad.progress import Progress
from axonad.report.drawing import check_format


def transfer(
    target: Annotated[str, typer.Argument(help="Suite in question.")],
    among: Annotated[str, typer.Option(help="Suite whose training segments it is held against.")],
    data: Annotated[
        Path | None, typer.Option(help="Series of the suite given by --among.", show_default=False)
    ] = None,
    target_data: Annotated[
        Path | None, typer.Option(help="Series of the suite in question.", show_default=False)
    ] = None,
    by: Annotated[
        str, typer.Option(help="Hold it against every series, or every dataset.")
    ] = "series",
    seeds: Annotated[
        list[str] | None, typer.Option(help="Seeds of a generated target; comma or repeat.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw all distances, PNG or SVG.", show_default=False)
    ] = None,
    form: Annotated[str, typer.Option("--format", "-f", help=", ".join(FORMATS))] = "text",
    force: Force = False,
) -> None:
    """Compare training segments by summary features; labels are not looked at."""
    check_choice("by", by, UNITS)
    check_choice("format", form, FORMATS)
    if figure is not None:
        check_format(figure)
        check_target(figure, force=force)
    chosen = seed_numbers(seeds)
    asked = list(_segments(read_suite(target, data=target_data), chosen))
    others = list(_segments(read_suite(among, data=data), chosen))
    found: list[Transfer] = []
    if by == "dataset":
        name = f"{target} (target)"
        here = [Segment(name, one.series, one.values) for one in asked]
        found.append(check_transfer(dataset_features([*others, *here], by=by), name))
    else:
        for one in asked:
            features = dataset_features([*others, one], by=by)
            found.append(check_transfer(features, one.series))
    console = out()
    made = transfer_table(found, among=among, by=by)
    console.print(render(made, form).rstrip("\n"), markup=False)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_transfer(figure, found=found[0], among=among)
        console.print(f"wrote {figure}", markup=False)


def _segments(suite: Suite, seeds: list[int]) -> Iterator[Segment]:
    """Yield the training rows of every series of a suite."""
    refs = sources.find(suite.data, seeds=seeds or suite.seeds)
    with Progress(f"reading {suite.name}", len(refs)) as progress:
        for ref in refs:
            values = sources.load_training(ref)
            progress.advance()
            yield Segment(ref.dataset, ref.name, values)
