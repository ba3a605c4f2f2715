"""``axonad score``: score a file with a saved detector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from axonad.cli.options import (
    Device,
    Force,
    Ignore,
    LabelColumn,
    ModelFolder,
    Separator,
    TimeColumn,
)
from axonad.cli.terminal import check_table_target, check_target, out, write_table
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.explanation import Explanation
from axonad.registry import load
from axonad.report.figures import check_format, draw_scores
from axonad.threshold import Event


def score(
    model: ModelFolder,
    data: Annotated[Path, typer.Argument(help="Data to score, CSV or Parquet.")],
    target: Annotated[Path, typer.Option("--out", "-o", help="Scores to write, .csv or .parquet.")],
    figure: Annotated[
        Path | None, typer.Option(help="Also draw series, score and alarms to this PNG or SVG.")
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(help="center or end of the window. Default: as fitted.", show_default=False),
    ] = None,
    device: Device = None,
    time: TimeColumn = None,
    label: LabelColumn = None,
    ignore: Ignore = None,
    separator: Separator = ",",
    force: Force = False,
) -> None:
    """Score a file: one row per step with score, its parts and the alarm."""
    check_table_target(target, force=force)
    if figure is not None:
        check_format(figure)
        check_target(figure, force=force)
    detector = load(model)
    changes = {"align": align, "device": device}
    detector.set_params(**{name: value for name, value in changes.items() if value is not None})
    series = read(data, time=time, label=label, ignore=ignore or (), separator=separator)
    found = detector.explain(series)
    events = found.events(gap=detector.history // 4)  # a flicker of the score is one event
    if figure is not None:
        strongest = max(events, key=lambda event: event.score, default=None)
        draw_scores(
            figure,
            series=series,
            scores=found.scores,
            threshold=found.threshold,
            components=found.components,
            channels=strongest.channels if strongest else (),
        )
    write_table(target, score_columns(series, found))
    _print_events(series, events)
    out().print(f"wrote {target}" + (f" and {figure}" if figure else ""), markup=False)


def score_columns(series: Series, found: Explanation) -> dict[str, np.ndarray]:
    """Return what a table of scores holds, one entry per step."""
    columns: dict[str, np.ndarray] = {"step": np.arange(len(series))}
    if series.times is not None:
        columns["time"] = series.times
    columns |= {"score": found.scores, **found.components, "alarm": found.alarms.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels
    return columns


def _print_events(series: Series, events: list[Event], most: int = 20) -> None:
    console = out()
    console.print(f"{len(events)} event{'s' if len(events) != 1 else ''} in {len(series)} steps")
    if not events:
        return
    strongest = sorted(events, key=lambda event: -event.score)[:most]
    table = Table(box=None, pad_edge=False)
    for heading in ("from", "to", "score", "channels"):
        table.add_column(heading, justify="left" if heading == "channels" else "right")
    for event in sorted(strongest, key=lambda event: event.start):
        table.add_row(
            _when(series, event.start),
            _when(series, event.end - 1),
            f"{event.score:.1f}",
            ", ".join(event.channels),
        )
    console.print(table)
    if len(events) > most:
        console.print(f"(the {most} strongest of {len(events)})")


def _when(series: Series, step: int) -> str:
    return str(step) if series.times is None else f"{series.times[step]}"
