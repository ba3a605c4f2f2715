"""``axonad score``: score a file with a saved detector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
from axonad.data.readers.chunks import FileChunks
from axonad.data.series import Series
from axonad.errors import ConfigError
from axonad.explanation import Explanation
from axonad.registry import load
from axonad.report.drawing import check_format
from axonad.report.score_figure import draw_scores
from axonad.stream.chunks import EventList, TimedEvent, strongest_of

LARGE = 2**30  # bytes of a file that is scored in chunks without being asked to
CHUNK = 100_000  # rows of such a chunk


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
    chunk: Annotated[
        int | None,
        typer.Option(
            help="Score this many rows at a time, for files larger than memory. Default: all at "
            f"once, {CHUNK} above 1 GiB where detector and options allow it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Score a file: one row per step with score, its parts and the alarm."""
    check_table_target(target, force=force, reads=[data])
    if figure is not None and chunk is not None:
        raise ConfigError("--figure needs the whole series; leave out --figure or --chunk")
    if figure is not None:
        check_format(figure)
        check_target(figure, force=force, reads=[data])
    detector = load(model)
    changes = {"align": align, "device": device}
    detector.set_params(**{name: value for name, value in changes.items() if value is not None})
    if chunk is None and figure is None and detector.is_causal and _is_large(data):
        chunk = CHUNK
    columns: dict[str, Any] = {
        "time": time,
        "label": label,
        "ignore": ignore or (),
        "separator": separator,
    }
    if chunk is not None:
        from axonad.cli.score_chunks import score_chunked

        file = FileChunks(data, size=chunk, **columns)
        print_events(score_chunked(detector, file, target))
        out().print(f"wrote {target}", markup=False)
        return
    series = read(data, **columns)
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
    found_events = [TimedEvent.of(event, series) for event in events]
    print_events(EventList(len(events), len(series), strongest_of(found_events)))
    out().print(f"wrote {target}" + (f" and {figure}" if figure else ""), markup=False)


def score_columns(series: Series, found: Explanation, *, first: int = 0) -> dict[str, Any]:
    """Return what a table of scores holds, one entry per step; ``first`` is the first step."""
    columns: dict[str, Any] = {"step": np.arange(first, first + len(series))}
    if series.times is not None:
        is_text = series.times.dtype == object  # whose type must be found behind missing ones
        columns["time"] = series.times.tolist() if is_text else series.times
    columns |= {"score": found.scores, **found.components, "alarm": found.alarms.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels
    return columns


def print_events(found: EventList) -> None:
    """Print how many events there are, and the strongest."""
    console = out()
    console.print(f"{found.count} event{'s' if found.count != 1 else ''} in {found.steps} steps")
    if not found.count:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("from", "to", "score", "channels"):
        table.add_column(heading, justify="left" if heading == "channels" else "right")
    for timed in found.strongest:
        table.add_row(
            f"{timed.begins}",
            f"{timed.ends}",
            f"{timed.event.score:.1f}",
            ", ".join(timed.event.channels),
        )
    console.print(table)
    if found.count > len(found.strongest):
        console.print(f"(the {len(found.strongest)} strongest of {found.count})")


def _is_large(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > LARGE
