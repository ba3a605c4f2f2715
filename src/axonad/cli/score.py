"""``axonad score``: score a file with a saved detector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from axonad.alarms.event import AlarmEvent
from axonad.cli import options
from axonad.cli.alarm_options import AlarmRate, Threshold, apply_threshold
from axonad.cli.event_files import EVENT_ENDINGS, write_events
from axonad.cli.missing_values import fill_series, make_filler
from axonad.cli.output_files import TABLE_ENDINGS, check_output, write_table
from axonad.cli.reading import checked, checked_chunks, for_model, read_options
from axonad.cli.recording_files import RECORDING_ENDINGS, write_recording
from axonad.cli.score_chunks import prepared, score_chunked
from axonad.cli.score_table import score_columns
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.data.readers import read
from axonad.data.readers.chunks import FileChunks
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.registry import load
from axonad.report.drawing import check_format
from axonad.report.score_figure import draw_scores
from axonad.report.times import format_time
from axonad.stream.alarm_collector import DataCollector, data_collector
from axonad.stream.chunks import SHOWN, EventList, TimedEvent, strongest_of
from axonad.threshold import Event

LARGE = 2**30  # bytes; a larger file is scored in chunks without --chunk
CHUNK = 100_000  # rows per chunk of such a file


def score(
    model: options.ModelFolder,
    data: Annotated[
        Path,
        typer.Argument(help="Data to score: CSV, Parquet, MDF, BLF, ASC, candump log or MCAP."),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write the scores to: .csv, .parquet, or .mf4 or .mcap with the "
            "channels too.",
        ),
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
    ignore_extra: options.IgnoreExtra = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    max_age: options.MaxAge = None,
    fill: options.Fill = None,
    max_hold: options.MaxHold = None,
    threshold: Threshold = None,
    alarm_rate: AlarmRate = None,
    events_file: Annotated[
        Path | None,
        typer.Option("--events", help="Also write the events to this file, .csv or .json."),
    ] = None,
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
    endings = (*TABLE_ENDINGS, *RECORDING_ENDINGS)
    check_output(target, force=force, inputs=[data], endings=endings)
    is_recording_file = target.suffix.lower() in RECORDING_ENDINGS
    if is_recording_file and chunk is not None:
        raise ConfigError(f"{target.suffix} needs the whole series; leave out --chunk")
    if events_file is not None:
        check_output(events_file, force=force, inputs=[data, target], endings=EVENT_ENDINGS)
    if figure is not None and chunk is not None:
        raise ConfigError("--figure needs the whole series; leave out --figure or --chunk")
    if figure is not None:
        check_format(figure)
        check_output(figure, force=force, inputs=[data])
    make_filler(fill, max_hold)  # fails early on bad options
    detector = load(model)
    changes = {"align": align, "device": device}
    detector.set_params(**{name: value for name, value in changes.items() if value is not None})
    apply_threshold(detector, threshold, alarm_rate)
    known = detector.channel_names if ignore_extra else None
    interval = detector.interval_
    is_large = data.is_file() and data.stat().st_size > LARGE
    if (
        chunk is None
        and figure is None
        and not is_recording_file
        and detector.is_causal
        and is_large
    ):
        chunk = CHUNK
    columns = read_options(
        time=time, label=label, ignore=ignore, rename=rename, dbc=dbc, max_age=max_age,
        separator=separator,
    )  # fmt: skip
    columns = for_model(columns, detector, data)
    if chunk is not None:
        file = FileChunks(data, size=chunk, **columns)

        def chunks(watch: DataCollector | None) -> Iterator[Series]:
            filler = make_filler(fill, max_hold, interval=interval)
            return prepared(checked_chunks(file, detector), keep=known, filler=filler, watch=watch)

        found = score_chunked(detector, chunks, target, keep_events=events_file is not None)
    else:
        series = checked(read(data, **columns), detector)
        filler = make_filler(fill, max_hold, interval=interval)
        raw = series if known is None else series.keep(known)
        found = _score_whole(detector, fill_series(raw, filler), target, figure)
        if (watch := data_collector(detector)) is not None:
            watch.add(raw)
            found = replace(found, data=watch.finish())
    if events_file is not None:
        has_policy = detector.alarm_setup_ is not None
        listed = sorted([*found.events, *found.data], key=lambda timed: timed.event.start)
        write_events(events_file, listed, alarms=has_policy)
    _print_events(found)
    written = [path for path in (target, figure, events_file) if path is not None]
    print_line("wrote " + " and ".join(str(path) for path in written))


def _score_whole(
    detector: Detector, series: Series, target: Path, figure: Path | None
) -> EventList:
    """Write the table and, if asked for, the figure of a series; return its events."""
    found = detector.explain(series)
    setup, events = detector.alarm_setup_, list[Event]()
    if setup is not None:
        events += found.alarm_events(setup.policy)
    else:  # a score that dips below the threshold for a quarter of a window is the same event
        events += found.events(gap=detector.history // 4)
    if figure is not None:
        strongest = max(events, key=lambda event: event.score, default=None)
        draw_scores(
            figure,
            series=series,
            scores=found.scores,
            threshold=found.threshold,
            components=found.components,
            channels=strongest.channels if strongest else (),
            cuts=found.cuts,
        )
    if target.suffix.lower() in RECORDING_ENDINGS:
        write_recording(target, series, found)
    else:
        write_table(target, score_columns(series, found))
    timed = [TimedEvent.of(event, series) for event in events]
    return EventList(len(events), len(series), timed)


def _print_events(found: EventList) -> None:
    """Print the number of events and the strongest of them."""
    print_line(f"{_events(found.count)} in {found.steps} steps")
    if found.count:
        strongest = strongest_of(found.events)
        _print_table(strongest, "score")
        if found.count > len(strongest):
            print_line(f"(the {len(strongest)} strongest of {found.count})")
    if found.data:
        print_line(f"{_events(len(found.data))} of bad data, beside the score")
        _print_table(found.data[:SHOWN], "reason")
        if len(found.data) > SHOWN:
            print_line(f"(the first {SHOWN} of {len(found.data)})")


def _print_table(events: list[TimedEvent], last: str) -> None:
    """Print events with their times, severity if they have one, score or reason, and channels."""
    has_severity = any(isinstance(timed.event, AlarmEvent) for timed in events)
    severity = ["severity"] if has_severity else []
    numeric = ("from", "to", "score")
    table = plain_table("from", "to", *severity, last, "channels", numeric=numeric)
    for timed in events:
        event = timed.event
        words = [f"{event.score:.1f}"]
        if isinstance(event, AlarmEvent):
            words = [event.severity, event.reason or words[0]]
        begins, ends = format_time(timed.begins), format_time(timed.ends)
        table.add_row(begins, ends, *words, ", ".join(event.channels))
    print_table(table)


def _events(count: int) -> str:
    return f"{count} event{'s' if count != 1 else ''}"
