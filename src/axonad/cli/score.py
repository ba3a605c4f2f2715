"""``axonad score``: score one or more files with a saved detector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from axonad.alarmed import EventList, RecordedEvents
from axonad.alarms.event import AlarmEvent
from axonad.alarms.scored import explained_at_end
from axonad.cli import options
from axonad.cli.alarm_options import AlarmRate, Threshold, apply_threshold
from axonad.cli.event_files import write_events
from axonad.cli.event_table import count_events, print_events
from axonad.cli.missing_channels import Models
from axonad.cli.missing_values import fill_series, held_for, make_filler
from axonad.cli.output_files import write_table
from axonad.cli.reading import (
    checked_chunks,
    for_model,
    read_for_model,
    read_options,
    say_raster,
)
from axonad.cli.recording_files import write_recording
from axonad.cli.score_chunks import prepared, score_chunked
from axonad.cli.score_jobs import Reading, ScoreJob, plan_jobs
from axonad.cli.score_table import score_columns, score_record
from axonad.cli.several_files import SeveralFiles, expand
from axonad.cli.terminal import print_json, print_line
from axonad.data.readers.chunks import FileChunks
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.registry import load
from axonad.report.score_figure import draw_scores

LARGE = 2**30  # bytes; a larger file is scored in chunks without --chunk
CHUNK = 100_000  # rows per chunk of such a file


def score(
    model: options.ModelFolder,
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Data to score: CSV, Parquet, MDF, BLF, ASC, candump log, MCAP or ROS bag; "
            "several files or a pattern."
        ),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write the scores to: .csv, .parquet, or .mf4 or .mcap with the "
            "channels too; for several files a folder.",
        ),
    ],
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Also plot channels, scores and alarms to this PNG or SVG; for several files PNGs "
            "in this folder."
        ),
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
    allow_missing: options.AllowMissing = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    fill: options.Fill = None,
    max_hold: options.MaxHold = None,
    threshold: Threshold = None,
    alarm_rate: AlarmRate = None,
    events_file: Annotated[
        Path | None,
        typer.Option(
            "--events",
            help="Also write the events to this file, .csv or .json; for several files to JSON "
            "files in this folder.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say of each event which channels broke, and how."),
    ] = False,
    separator: options.Separator = None,
    as_json: options.AsJson = False,
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
    """Score files: write one row per step with its score, score components and alarm.

    The results of several files go to a folder, each under the name of its file. A file that cannot
    be scored is named at the end and does not stop the others; the exit code is then 1.
    """
    if figure is not None and chunk is not None:
        raise ConfigError("--figure needs the whole series; leave out --figure or --chunk")
    if explain and chunk is not None:
        raise ConfigError("--explain needs the whole series; leave out --explain or --chunk")
    jobs = plan_jobs(expand(data), target, figure, events_file)
    for job in jobs:
        job.check(force=force)
        if job.is_recording and chunk is not None:
            raise ConfigError(f"{job.target.suffix} needs the whole series; leave out --chunk")
    make_filler(fill, max_hold)  # fails early on bad options
    detector = load(model)
    changes = {"align": align, "device": device}
    detector.set_params(**{name: value for name, value in changes.items() if value is not None})
    apply_threshold(detector, threshold, alarm_rate)
    if len(jobs) > 1 and "verbose" in detector.get_params():
        detector.set_params(verbose=False)  # one progress bar for all files
    how = Reading(
        columns=read_options(
            time=time,
            label=label,
            ignore=ignore,
            rename=rename,
            dbc=dbc,
            rate=rate,
            max_age=max_age,
            separator=separator,
            allow_missing=allow_missing,
        ),
        known=detector.channel_names if ignore_extra else None,
        explain=explain,
        keep_all=as_json,
        filler=lambda: make_filler(fill, max_hold, interval=detector.interval_),
    )
    models = Models(
        detector, allow_missing=allow_missing, threshold=threshold, alarm_rate=alarm_rate
    )
    by_path = {job.data: job for job in jobs}
    files = SeveralFiles(list(by_path))

    def score_one(path: Path) -> EventList:
        return _score_file(models, by_path[path], how, chunk)

    records = []
    for path, found in files.each(score_one, text="scoring files"):
        if as_json:
            records.append(score_record(path, found, by_path[path].outputs))
        elif len(jobs) > 1:
            bad = f", {count_events(len(found.data))} of bad data" if found.data else ""
            print_line(f"{path.name}: {count_events(found.count)} in {found.steps} steps{bad}")
        else:
            print_events(found)
            print_line("wrote " + " and ".join(str(written) for written in jobs[0].outputs))
    say_raster(detector, how.columns, by_path)
    if as_json:
        print_json(records)
    elif len(jobs) > 1:
        folders = [folder for folder in (target, figure, events_file) if folder is not None]
        print_line("wrote to " + " and ".join(map(str, folders)))
    files.finish()


def _score_file(models: Models, job: ScoreJob, how: Reading, chunk: int | None) -> EventList:
    """Write the results of one file; return its events."""
    detector = models.detector
    is_large = job.data.is_file() and job.data.stat().st_size > LARGE
    needs_all = job.figure is not None or how.explain or job.is_recording
    if chunk is None and not needs_all and detector.is_causal and is_large:
        chunk = CHUNK
    if chunk is not None:
        file = FileChunks(job.data, size=chunk, **for_model(how.columns, detector, job.data))
        detector = models.of_chunks(file)

        def chunks(events: RecordedEvents | None) -> Iterator[Series]:
            rows = checked_chunks(file, detector)
            return prepared(rows, keep=how.known, filler=how.filler(), events=events)

        keep = how.keep_all or job.events is not None
        hold = held_for(how.filler())
        found = score_chunked(detector, chunks, job.target, keep_events=keep, hold=hold)
    else:
        raw = read_for_model(job.data, how.columns, detector, ignore_extra=how.known is not None)
        detector, raw = models.of(raw)
        filler = how.filler()
        filled = fill_series(raw, filler)
        events = RecordedEvents(detector, hold=held_for(filler), keep_all=True)
        found = _score_whole(detector, raw, filled, events, job, explain=how.explain)
    if job.events is not None:
        has_policy = detector.alarm_setup_ is not None
        every = [*found.events, *found.data, *found.drift]
        listed = sorted(every, key=lambda timed: timed.event.start)
        write_events(job.events, listed, alarms=has_policy, explained=how.explain)
    return found


def _score_whole(
    detector: Detector,
    raw: Series,
    series: Series,
    events: RecordedEvents,
    job: ScoreJob,
    *,
    explain: bool,
) -> EventList:
    """Write table and figure of a series; return its events. ``raw`` is before any filling."""
    found = judged = detector.explain(series)
    setup = detector.alarm_setup_
    if setup is not None:
        judged = explained_at_end(detector, series, found)
    events.see(raw)
    events.add(judged, times=series.times)
    listed = events.finish()
    if explain:
        start = None if setup is None else setup.policy.start
        whys = judged.explained([timed.event for timed in listed.events], threshold=start)
        told = [replace(t, event=why) for t, why in zip(listed.events, whys, strict=True)]
        listed = replace(listed, events=told)
    anomalies = [timed.event for timed in listed.events]
    if job.figure is not None:
        strongest = max(anomalies, key=lambda event: event.score, default=None)
        draw_scores(
            job.figure,
            series=series,
            scores=found.scores,
            threshold=found.threshold,
            components=found.components,
            events=None if setup is None else [e for e in anomalies if isinstance(e, AlarmEvent)],
            channels=strongest.channels if strongest else (),
            cuts=found.cuts,
        )
    if job.is_recording:
        write_recording(job.target, series, found, anomalies)
    else:
        write_table(job.target, score_columns(series, found))
    return listed
