"""``axonad bench transfer``: whether a data set is an outlier among others, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench import sources
from axonad.bench.suite import Suite, read_suite
from axonad.cli.bench.options import parse_seeds
from axonad.cli.bench.report_files import FORMATS, Format, print_report_table
from axonad.cli.completion import suite_names
from axonad.cli.options import AsJson, Force
from axonad.cli.output_files import check_output
from axonad.cli.terminal import print_status
from axonad.config import check_choice
from axonad.paper.figures.transfer import draw_transfer
from axonad.paper.tables.transfer import transfer_table
from axonad.paper.transfer.check import UNITS, Segment, check_transfer, dataset_features
from axonad.progress import Progress
from axonad.report.drawing import check_format


def transfer(
    target: Annotated[str, typer.Argument(help="Suite to check.", autocompletion=suite_names)],
    among: Annotated[
        str, typer.Option(help="Suite to compare it with.", autocompletion=suite_names)
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder or zip with the series of the --among suite.")
    ] = None,
    target_data: Annotated[
        Path | None, typer.Option(help="Folder or zip with the series of the suite to check.")
    ] = None,
    by: Annotated[
        str, typer.Option(help="Compare with every single series, or with every dataset.")
    ] = "series",
    seeds: Annotated[
        list[str] | None,
        typer.Option(help="Seeds of a generated suite, comma-separated or repeated."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Also plot all distances, PNG or SVG.")
    ] = None,
    form: Format = "text",
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Check whether a suite's training data are an outlier among another's; labels are not used."""
    check_choice("by", by, UNITS)
    form = "json" if as_json else form
    check_choice("format", form, FORMATS)
    if figure is not None:
        check_format(figure)
        check_output(figure, force=force)
    chosen = parse_seeds(seeds)
    targets = list(_segments(read_suite(target, data=target_data), chosen))
    others = list(_segments(read_suite(among, data=data), chosen))
    if by == "dataset":
        name = f"{target} (target)"
        renamed = [Segment(name, one.series, one.values) for one in targets]
        found = [check_transfer(dataset_features([*others, *renamed], by=by), name)]
    else:
        features = (dataset_features([*others, one], by=by) for one in targets)
        found = [check_transfer(f, one.series) for f, one in zip(features, targets, strict=True)]
    print_report_table(transfer_table(found, among=among, by=by), form)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_transfer(figure, found=found[0], among=among)
        print_status(f"wrote {figure}")


def _segments(suite: Suite, seeds: list[int]) -> Iterator[Segment]:
    """Yield the training rows of every series of a suite."""
    refs = sources.find(suite.data, seeds=seeds or suite.seeds)
    with Progress(f"reading {suite.name}", len(refs)) as progress:
        for ref in refs:
            values = sources.load_training(ref)
            progress.advance()
            yield Segment(ref.dataset, ref.name, values)
