"""``axonad selftest``: plant faults into normal recordings and show which a model would catch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad import atomic
from axonad.cli import options
from axonad.cli.alarm_options import AlarmRate, Threshold, apply_threshold
from axonad.cli.missing_values import fill_series, make_filler
from axonad.cli.output_files import can_draw_to, check_output
from axonad.cli.reading import read_for_model, read_options, say_raster
from axonad.cli.several_files import SeveralFiles, expand
from axonad.cli.terminal import plain_table, print_json, print_line, print_table
from axonad.data.series import Series
from axonad.registry import load
from axonad.report.selftest_figure import draw_self_test
from axonad.report.selftest_table import describe_cell
from axonad.selftest.kinds import KINDS
from axonad.selftest.planting import FEWEST
from axonad.selftest.result import NEEDED, SelfTest
from axonad.selftest.settings import REPEATS, SECONDS, Settings


def selftest(
    model: options.ModelFolder,
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Normal data that the model was not fitted on, CSV or Parquet; several files or a "
            "pattern."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for selftest.csv, selftest.json and selftest.png."
        ),
    ] = None,
    as_json: options.AsJson = False,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds", help=f"Kind of fault; may be repeated. Default: {', '.join(KINDS)}."
        ),
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option("--channels", help="Channel to plant into; may be repeated. Default: all."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Faults of each kind and size in each channel.")
    ] = REPEATS,
    shortest: Annotated[int, typer.Option(min=1, help="Rows of the shortest fault.")] = FEWEST,
    longest: Annotated[
        int | None,
        typer.Option(min=1, help="Rows of the longest fault. Default: two periods of the data."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(help="Time limit; fewer repeats are made if they would take longer."),
    ] = SECONDS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of places, durations and courses.")] = 2024,
    device: options.Device = None,
    time: options.TimeColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    ignore_extra: options.IgnoreExtra = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    fill: options.Fill = None,
    max_hold: options.MaxHold = None,
    threshold: Threshold = None,
    alarm_rate: AlarmRate = None,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Plant faults into normal data and show which of them the model would catch.

    The table has the smallest size found in at least 90 % of plantings, in units of the channel,
    and the median delay. Labels in the data are ignored.
    """
    paths = expand(data)
    files = [] if folder is None else [folder / f"selftest.{e}" for e in ("csv", "json", "png")]
    for path in files:
        check_output(path, force=force, inputs=paths)
    can_draw = bool(files) and can_draw_to(files[-1])
    make_filler(fill, max_hold)  # fails early on bad options
    chosen: dict[str, Any] = {
        "repeats": repeats, "shortest": shortest, "longest": longest, "seconds": seconds,
        "seed": seed,
    }  # fmt: skip
    chosen |= {"kinds": tuple(kinds)} if kinds else {}
    chosen |= {"channels": tuple(channels)} if channels else {}
    Settings(**chosen)
    detector = load(model)
    if device is not None:
        detector.set_params(device=device)
    apply_threshold(detector, threshold, alarm_rate)
    columns = read_options(
        time=time, label=label, ignore=ignore, rename=rename, dbc=dbc, rate=rate,
        max_age=max_age, separator=separator,
    )  # fmt: skip

    def read_one(path: Path) -> Series:
        series = read_for_model(path, columns, detector, ignore_extra=ignore_extra)
        return fill_series(series, make_filler(fill, max_hold, interval=detector.interval_))

    several = SeveralFiles(paths)
    recordings = several.read(read_one)
    say_raster(detector, columns, paths)
    result = detector.self_test(recordings, **chosen)
    if as_json:
        print_json(json.loads(result.to_json()))
    else:
        _print(result)
    if files:
        written = _write(files, result, can_draw=can_draw)
        if not as_json:
            print_line("wrote " + " and ".join(str(path) for path in written))
    several.finish()


def _print(result: SelfTest) -> None:
    table = plain_table("channel", *result.kinds)
    for channel in result.channels:
        cells = [describe_cell(result.cell(channel, kind), result) for kind in result.kinds]
        table.add_row(channel, *(f"{says} ({note})" if note else says for says, note in cells))
    print_table(table)
    print_line(
        f"smallest size found in at least {100 * NEEDED:.0f} % of plantings, in units of the "
        "channel (median delay, or share found); kinds without sizes: share found"
    )
    print_line(str(result))


def _write(files: list[Path], result: SelfTest, *, can_draw: bool) -> list[Path]:
    rows, document, figure = files
    atomic.write_bytes(rows, result.to_csv().encode(), overwrite=True)
    atomic.write_bytes(document, result.to_json().encode(), overwrite=True)
    if not can_draw:
        return [rows, document]
    draw_self_test(figure, result)
    return files
