"""``axonad paper transfer``: whether the telemetry stream could be a series of TSB-AD."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad.bench import sources
from axonad.bench.sources import SeriesRef
from axonad.bench.suite import read_suite
from axonad.cli.bench.options import Data, Out, Seeds, seed_numbers
from axonad.cli.paper.command import Show, Small, Write
from axonad.cli.paper.experiment import Choice
from axonad.cli.paper.publish import check_folder, publish
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
STEPS = 2000  # of the miniature's drives
SMALL_SEEDS, SMALL_OTHERS = (2024, 2025), (1, 2, 3, 4)

Target = Annotated[str, typer.Option("--on", help="Suite in question.")]


class TransferCheck:
    """Compares training segments by summary features; labels are not looked at."""

    name = "transfer"
    summary = "Hold the telemetry stream against TSB-AD's training segments, without labels."

    def run(self, choice: Choice) -> None:
        """Read the segments that are left, or none to ``show``; print and write what they give."""
        check_folder(choice.write)
        folder = choice.target or Path("results") / (NAME + "-small" * choice.small)
        rows = read_segments(folder) if choice.show else _read(choice, folder)
        found = compare_segments(rows)
        _, first = next(one for one in found if one[0] == "all series")
        publish(
            choice.write or folder,
            tables={self.name: lambda: paper_transfer_table(found)},
            figures={self.name: lambda path: draw_transfer(path, found=first, among="TSB-AD")},
        )

    @property
    def command(self) -> Callable[..., None]:
        """The function that runs it from the command line."""

        def command(
            target: Out = None,
            data: Data = None,
            on: Target = TARGET,
            seeds: Seeds = None,
            write: Write = None,
            small: Small = False,
            show: Show = False,
        ) -> None:
            self.run(
                Choice(
                    target=target, data=data, seeds=seeds, write=write, small=small, show=show,
                    options={"on": on},
                )
            )  # fmt: skip

        return command


TRANSFER = TransferCheck()


def _read(choice: Choice, folder: Path) -> list[SegmentRow]:
    """Return the features of targets and others; what the folder has is not read again."""
    asked = _targets(choice), _others(choice)
    rows: list[SegmentRow] = []
    with (
        Segments(folder) as segments,
        Progress("reading training segments", sum(map(len, asked))) as progress,
    ):
        for role, refs in zip(("target", "other"), asked, strict=True):
            for row in summarise_segments(refs, segments, role=role):
                rows.append(row)
                progress.advance()
    return rows


def _targets(choice: Choice) -> Sequence[SeriesRef]:
    on = str(choice.options.get("on") or TARGET)
    if choice.small:
        return _drives("telemetry", SMALL_SEEDS)
    suite = read_suite(on, data=choice.data if on == AMONG else None)
    return sources.find(suite.data, seeds=seed_numbers(choice.seeds) or suite.seeds)


def _others(choice: Choice) -> Sequence[SeriesRef]:
    """Return every series of TSB-AD there is, tuning and evaluation."""
    if choice.small and choice.data is not None:
        raise InputError("--small makes its own series; leave out --data")
    if choice.small:
        return _drives("coordination", SMALL_OTHERS)
    suite = read_suite(AMONG, data=choice.data)
    data: dict[str, Any] = {**suite.data, "split": "all"}
    return sources.find(data, seeds=suite.seeds)


def _drives(kind: str, seeds: Sequence[int]) -> list[SeriesRef]:
    return sources.find({"source": kind, "steps": STEPS}, seeds=seeds)
