"""``axonad paper transfer``: whether the telemetry stream is an outlier among TSB-AD's series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench import sources
from axonad.bench.sources import SeriesRef
from axonad.bench.suite import read_suite
from axonad.cli.bench.options import Data, Out, Seeds, parse_seeds
from axonad.cli.paper.options import Show, Small, Write
from axonad.cli.paper.results import check_results_folder, write_results
from axonad.errors import InputError
from axonad.paper.figures.transfer import draw_transfer
from axonad.paper.tables.transfer import paper_transfer_table
from axonad.paper.transfer.segments import (
    SegmentRow,
    Segments,
    compare_segments,
    read_segments,
    summarise_segments,
)
from axonad.progress import Progress

NAME = "paper-transfer"
TARGET, AMONG = "telemetry", "tsb-ad-m"
SMALL_STEPS, SMALL_TARGETS, SMALL_OTHERS = 2000, (2024, 2025), (1, 2, 3, 4)  # the last two: seeds

On = Annotated[str, typer.Option(help="Suite to compare with TSB-AD.")]
Refs = Sequence[SeriesRef]


def run_transfer(
    target: Out = None,
    data: Data = None,
    on: On = TARGET,
    seeds: Seeds = None,
    write: Write = None,
    small: Small = False,
    show: Show = False,
) -> None:
    """Compare the telemetry stream with TSB-AD's training segments; labels are not used."""
    check_results_folder(write)
    folder = target or Path("results") / (NAME + "-small" * small)
    if show:
        rows = read_segments(folder)
    else:
        targets, others = _small_series(data) if small else _series(on, data, seeds)
        rows = _summarise(targets, others, folder)
    found = compare_segments(rows)
    _, first = next(one for one in found if one[0] == "all series")
    write_results(
        write or folder,
        tables={"transfer": lambda: paper_transfer_table(found)},
        figures={"transfer": lambda path: draw_transfer(path, found=first, among="TSB-AD")},
    )


def _series(on: str, data: Path | None, seeds: list[str] | None) -> tuple[Refs, Refs]:
    """Return the series of the suite ``on``, and all series of TSB-AD, tuning and evaluation."""
    suite = read_suite(on, data=data if on == AMONG else None)
    targets = sources.find(suite.data, seeds=parse_seeds(seeds) or suite.seeds)
    among = read_suite(AMONG, data=data)
    return targets, sources.find({**among.data, "split": "all"}, seeds=among.seeds)


def _small_series(data: Path | None) -> tuple[Refs, Refs]:
    """Return short generated series of two kinds in place of telemetry and TSB-AD."""
    if data is not None:
        raise InputError("--small generates its series; leave out --data")
    return (
        sources.find({"source": "telemetry", "steps": SMALL_STEPS}, seeds=SMALL_TARGETS),
        sources.find({"source": "coordination", "steps": SMALL_STEPS}, seeds=SMALL_OTHERS),
    )


def _summarise(targets: Refs, others: Refs, folder: Path) -> list[SegmentRow]:
    """Return the features of all segments; those already in the folder are not computed again."""
    rows: list[SegmentRow] = []
    with (
        Segments(folder) as segments,
        Progress("reading training segments", len(targets) + len(others)) as progress,
    ):
        for role, refs in (("target", targets), ("other", others)):
            for row in summarise_segments(refs, segments, role=role):
                rows.append(row)
                progress.advance()
    return rows
