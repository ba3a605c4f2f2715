"""``axonad report``: one HTML page about recordings, to open anywhere and to mail."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad import __version__, atomic
from axonad.cli import options
from axonad.cli.alarm_options import AlarmRate, Threshold, apply_threshold
from axonad.cli.missing_channels import Models
from axonad.cli.missing_values import fill_series, held_for, make_filler
from axonad.cli.output_files import check_output
from axonad.cli.reading import read_for_model, read_options, say_raster
from axonad.cli.report_files import (
    command_line,
    display_names,
    read_self_test,
    source_of,
)
from axonad.cli.several_files import SOME_FAILED, expand
from axonad.cli.terminal import print_error, print_json, print_line
from axonad.detector import Detector
from axonad.errors import AxonADError, DataWarning, InputError, is_out_of_memory
from axonad.progress import Progress
from axonad.registry import load
from axonad.report.page.card import describe_model
from axonad.report.page.content import Failure, Page, RecordingView
from axonad.report.page.document import render
from axonad.report.page.gather import keep_strongest, overview_points, view_recording
from axonad.report.page.scoring import EXPLAINED, Scored, score_series
from axonad.report.page.words import verdict


@dataclass(frozen=True)
class _Reading:
    """How recordings are read, as the options say."""

    columns: dict[str, Any]
    ignore_extra: bool
    fill: str | None
    max_hold: int | None


def report(
    model: options.ModelFolder,
    data: Annotated[
        list[str],
        typer.Argument(
            help="Recordings: CSV, Parquet, MDF, BLF, ASC, candump log, MCAP or ROS bag; files, or "
            "patterns such as 'day/*.csv'."
        ),
    ],
    target: Annotated[Path, typer.Option("--out", "-o", help="File to write the page to, .html.")],
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    selftest: Annotated[
        Path | None,
        typer.Option(help="The selftest.json of `axonad selftest --out`, to show on the page."),
    ] = None,
    plots: Annotated[
        int, typer.Option(min=0, help="How many events have plots: the strongest.")
    ] = EXPLAINED,
    device: options.Device = None,
    time: options.TimeColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    ignore_extra: options.IgnoreExtra = False,
    allow_missing: options.AllowMissing = False,
    fill: options.Fill = None,
    max_hold: options.MaxHold = None,
    threshold: Threshold = None,
    alarm_rate: AlarmRate = None,
    separator: options.Separator = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Write one HTML page about recordings: what is unusual, when, why, and in which channels.

    The page needs no network and no program but a browser. A recording that cannot be scored is
    named on it, and the exit code is 1.
    """
    files = expand([Path(word) for word in data])
    check_output(target, force=force, inputs=files, endings=(".html", ".htm"))
    make_filler(fill, max_hold)  # fails early on bad options
    tested = None if selftest is None else read_self_test(selftest)
    detector = load(model)
    if device is not None:
        detector.set_params(device=device)
    apply_threshold(detector, threshold, alarm_rate)
    columns = read_options(
        time=time, label=label, ignore=ignore, rename=rename, dbc=dbc, rate=rate,
        max_age=max_age, separator=separator, allow_missing=allow_missing,
    )  # fmt: skip
    reading = _Reading(columns, ignore_extra, fill, max_hold)
    models = Models(
        detector, allow_missing=allow_missing, threshold=threshold, alarm_rate=alarm_rate
    )
    views, failures = _gather(models, files, reading, plots)
    if not views:
        raise InputError(_all_failed(failures))
    kept, listed_only = keep_strongest(views, plots)
    given = {
        "--title": title, "--selftest": selftest, "--plots": plots if plots != EXPLAINED else None,
        "--device": device, "--time": time, "--label": label, "--ignore": ignore,
        "--rename": rename, "--dbc": dbc, "--rate": rate, "--max-age": max_age,
        "--ignore-extra": ignore_extra, "--allow-missing": allow_missing,
        "--fill": fill, "--max-hold": max_hold,
        "--threshold": threshold, "--alarm-rate": alarm_rate, "--separator": separator,
    }  # fmt: skip
    page = Page(
        title=title or f"Report on {_recordings(files)}",
        card=describe_model(detector, str(model)),
        recordings=kept,
        failures=tuple(failures),
        commands=(command_line(["report", str(model), *data], given),),
        selftest=tested,
        version=__version__,
        listed_only=listed_only,
    )
    atomic.write_bytes(target, render(page), overwrite=force)
    say_raster(detector, columns, files)
    verdicts = {view.source.name: verdict(view, page.card) for view in views}
    if as_json:
        print_json(_record(target, views, verdicts, failures))
    else:
        for name, text in verdicts.items():
            print_line(f"{name}: {text}")
        print_line(f"wrote {target}")
    for failure in failures:
        print_error(f"{failure.name} could not be scored: {failure.reason}")
    if failures:
        raise typer.Exit(SOME_FAILED)


def _record(
    target: Path,
    views: list[RecordingView],
    verdicts: dict[str, str],
    failures: list[Failure],
) -> dict[str, Any]:
    """Return what the page amounts to as a document."""
    recordings = [
        {"name": view.source.name, "events": len(view.events),
         "verdict": verdicts[view.source.name]}
        for view in views
    ]  # fmt: skip
    failed = [{"name": one.name, "reason": one.reason} for one in failures]
    return {"written": target, "recordings": recordings, "failures": failed}


def _gather(
    models: Models, files: list[Path], reading: _Reading, plots: int
) -> tuple[list[RecordingView], list[Failure]]:
    """Score the recordings one after the other; an error of one does not stop the others."""
    views: list[RecordingView] = []
    failures: list[Failure] = []
    points = overview_points(recordings=len(files), channels=models.detector.n_features_in_)
    with Progress("scoring", total=len(files)) as bar:
        for path, name in zip(files, display_names(files), strict=True):
            bar.describe(name)
            try:
                detector, scored = _score_file(models, path, reading, plots)
                number = 1 + sum(len(view.events) for view in views)
                views.append(
                    view_recording(
                        detector, scored, source=source_of(path, name), place=len(views) + 1,
                        first_number=number, points=points,
                    )
                )  # fmt: skip
                views = list(keep_strongest(views, plots)[0])
            except (AxonADError, OSError) as error:
                failures.append(Failure(name, str(error)))
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                failures.append(Failure(name, "out of memory; cut it into shorter files"))
            bar.advance()
    return views, failures


def _score_file(
    models: Models, path: Path, reading: _Reading, plots: int
) -> tuple[Detector, Scored]:
    """Return the scores and events of a file, what is odd about its data, and its model."""
    detector = models.detector
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        raw = read_for_model(path, reading.columns, detector, ignore_extra=reading.ignore_extra)
        detector, raw = models.of(raw)
        filler = make_filler(reading.fill, reading.max_hold, interval=detector.interval_)
        series = fill_series(raw, filler)
        scored = score_series(detector, series, raw=raw, explained=plots, hold=held_for(filler))
    for one in caught:
        warnings.warn(one.message, one.category, stacklevel=2)
    notes = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    return detector, replace(scored, notes=[*notes, *scored.notes])


def _recordings(files: list[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} recordings"


def _all_failed(failures: list[Failure]) -> str:
    first = failures[0]
    if len(failures) == 1:
        return first.reason
    return f"none of the {len(failures)} recordings could be scored; {first.name}: {first.reason}"
