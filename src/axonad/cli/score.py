"""``axonad score``: score a file with a saved detector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from axonad.cli import options
from axonad.cli.output_files import TABLE_ENDINGS, check_output, write_table
from axonad.cli.score_chunks import score_chunked
from axonad.cli.score_table import score_columns
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.data.readers import read
from axonad.data.readers.chunks import FileChunks
from axonad.errors import ConfigError
from axonad.registry import load
from axonad.report.drawing import check_format
from axonad.report.score_figure import draw_scores
from axonad.stream.chunks import EventList, TimedEvent, strongest_of

LARGE = 2**30  # bytes; a larger file is scored in chunks without --chunk
CHUNK = 100_000  # rows per chunk of such a file


def score(
    model: options.ModelFolder,
    data: Annotated[Path, typer.Argument(help="Data to score, CSV or Parquet.")],
    target: Annotated[
        Path, typer.Option("--out", "-o", help="File to write the scores to, .csv or .parquet.")
    ],
    figure: Annotated[
        Path | None, typer.Option(help="Also plot channels, scores and alarms to this PNG or SVG.")
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            help="Step that gets a window's score: center or end of the window. Default: as fitted."
        ),
    ] = None,
    device: options.Device = None,
    time: options.TimeColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    separator: options.Separator = None,
    force: options.Force = False,
    chunk: Annotated[
        int | None,
        typer.Option(
            help="Score this many rows at a time, for files larger than memory. Default: the "
            f"whole file at once; files above 1 GiB in chunks of {CHUNK} rows, if the detector "
            "and the other options allow it."
        ),
    ] = None,
) -> None:
    """Score a file: write one row per step with its score, score components and alarm."""
    check_output(target, force=force, inputs=[data], endings=TABLE_ENDINGS)
    if figure is not None and chunk is not None:
        raise ConfigError("--figure needs the whole series; leave out --figure or --chunk")
    if figure is not None:
        check_format(figure)
        check_output(figure, force=force, inputs=[data])
    detector = load(model)
    changes = {"align": align, "device": device}
    detector.set_params(**{name: value for name, value in changes.items() if value is not None})
    is_large = data.is_file() and data.stat().st_size > LARGE
    if chunk is None and figure is None and detector.is_causal and is_large:
        chunk = CHUNK
    columns: dict[str, Any] = {
        "time": time,
        "label": label,
        "ignore": ignore or (),
        "separator": separator,
    }
    if chunk is not None:
        file = FileChunks(data, size=chunk, **columns)
        _print_events(score_chunked(detector, file, target))
        print_line(f"wrote {target}")
        return
    series = read(data, **columns)
    found = detector.explain(series)
    # A score that dips below the threshold for a quarter of a window is still the same event.
    events = found.events(gap=detector.history // 4)
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
    timed = [TimedEvent.of(event, series) for event in events]
    _print_events(EventList(len(events), len(series), strongest_of(timed)))
    print_line(f"wrote {target}" + (f" and {figure}" if figure else ""))


def _print_events(found: EventList) -> None:
    """Print the number of events and the strongest of them."""
    print_line(f"{found.count} event{'s' if found.count != 1 else ''} in {found.steps} steps")
    if not found.count:
        return
    table = plain_table("from", "to", "score", "channels", numeric=("from", "to", "score"))
    for timed in found.strongest:
        channels = ", ".join(timed.event.channels)
        table.add_row(str(timed.begins), str(timed.ends), f"{timed.event.score:.1f}", channels)
    print_table(table)
    if found.count > len(found.strongest):
        print_line(f"(the {len(found.strongest)} strongest of {found.count})")
