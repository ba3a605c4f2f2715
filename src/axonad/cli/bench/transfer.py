"""``axonad bench transfer``: whether a data set, seen without labels, is an outlier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench import sources
from axonad.bench.suite import Suite, read_suite
from axonad.bench.transfer import UNITS, Segment, Transfer, check_transfer, dataset_features
from axonad.cli.bench.options import FORMATS, render, words
from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out
from axonad.config import check_choice
from axonad.progress import Progress
from axonad.report.figures import check_format
from axonad.report.transfer import draw_transfer, transfer_table


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
    asked = read_suite(target, data=target_data)
    others = list(_segments(read_suite(among, data=data), words(seeds)))
    found: list[Transfer] = []
    for one in _segments(asked, words(seeds)):
        name = f"{one.dataset} (target)" if by == "dataset" else one.series
        here = Segment(name, name, one.values)
        found.append(check_transfer(dataset_features([*others, here], by=by), name))
    console = out()
    made = transfer_table(found, among=among, by=by)
    console.print(render(made, form).rstrip("\n"), markup=False)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_transfer(figure, found=found[0], among=among)
        console.print(f"wrote {figure}", markup=False)


def _segments(suite: Suite, seeds: list[str]) -> Iterator[Segment]:
    """Yield the training rows of every series of a suite."""
    chosen = [int(word) for word in seeds] or list(suite.seeds)
    refs = sources.find(suite.data, seeds=chosen)
    with Progress(f"reading {suite.name}", len(refs)) as progress:
        for ref in refs:
            subject = sources.load(ref)
            progress.advance()
            yield Segment(ref.dataset, ref.name, subject.values[: subject.train_steps])
