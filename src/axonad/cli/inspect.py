"""``axonad inspect``: what a file holds, and what becomes of it when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.cli import options
from axonad.cli.output_files import check_output
from axonad.cli.reading import read_options
from axonad.cli.terminal import plain_table, print_json, print_line, print_table
from axonad.data.raster import SECOND, describe_interval
from axonad.data.readers.about import About, ChannelAbout, about_table
from axonad.data.readers.asked import Asked
from axonad.data.readers.reading import read_described, warn_of
from axonad.data.readers.request import Request
from axonad.data.series import Series
from axonad.report.drawing import check_format
from axonad.report.recording_figure import draw_recording
from axonad.report.times import format_time

NUMERIC = ("rate", "samples", "lowest", "highest", "new", "held", "missing", "held for")


def inspect(
    data: Annotated[
        Path,
        typer.Argument(help="CSV, Parquet, MDF, BLF, ASC, candump log, MCAP or ROS bag."),
    ],
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the channels to this PNG or SVG.")
    ] = None,
    as_json: options.AsJson = False,
    channels: options.Channels = None,
    ignore: options.Ignore = None,
    codes: options.Codes = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    time: options.TimeColumn = None,
    label: options.LabelColumn = None,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Show the channels of a file: unit, rate, range, and how much is held or missing.

    "new" is the share of rows with a sample since the row before, "held" that of rows with an
    earlier one, "missing" that of rows without a value.
    """
    if figure is not None:
        check_format(figure)
        check_output(figure, force=force, inputs=[data])
    given = read_options(
        channels=channels, ignore=ignore, codes=codes, rename=rename, dbc=dbc, rate=rate,
        max_age=max_age, time=time, label=label,
    )  # fmt: skip
    series, end = read_described(Request.of(data, Asked.of(**given), separator=separator))
    if end.about is None:
        warn_of(end.notes)
    about = end.about or about_table(series)
    if as_json:
        print_json(about.to_json())
    else:
        _print(series, about)
    if figure is not None:
        draw_recording(figure, series, about)
        if not as_json:
            print_line(f"wrote {figure}")


def _print(series: Series, about: About) -> None:
    print_line(_summary(series, about))
    table = plain_table(
        "channel", "unit", "rate", "samples", "lowest", "highest", "new", "held", "missing",
        "held for", numeric=NUMERIC,
    )  # fmt: skip
    for one in about.used:
        table.add_row(*_cells(one, about))
    print_table(table)
    left = [one for one in about.channels if one.why]
    if left:
        print_line("")
        table = plain_table("left out", "unit", "rate", "why", numeric=("rate",))
        for one in left:
            table.add_row(one.name, one.unit, _rate(one.native), one.why)
        print_table(table)


def _summary(series: Series, about: About) -> str:
    """Return the raster of a file in one line."""
    parts = [f"{series.name}: {_count(about.rows, 'row')}"]
    if about.interval is not None:
        why = f" (from {about.fastest})" if about.fastest else ""
        parts[0] += f" at {describe_interval(about.interval)}{why}"
    if series.times is not None and len(series):
        begin, end = format_time(series.times[0]), format_time(series.times[-1])
        parts.append(f"{begin} to {end}")
    count, used = len(about.channels), len(about.used)
    all_used = count == used
    parts.append(_count(used, "channel") if all_used else f"{used} of {count} channels")
    unusable = 0 if series.unusable is None else int(series.unusable.sum())
    if unusable:
        parts.append(f"{_count(unusable, 'row')} with a missing value")
    return ", ".join(parts)


def _cells(one: ChannelAbout, about: About) -> list[str]:
    shares = [one.fresh, one.held, one.missing]
    return [
        one.name,
        one.unit,
        _rate(one.native),
        "" if one.samples is None else str(one.samples),
        "" if one.low is None else f"{one.low:.6g}",
        "" if one.high is None else f"{one.high:.6g}",
        *(_percent(share, about.rows) for share in shares),
        "" if one.max_age is None else f"{one.max_age / SECOND:.4g} s",
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _rate(native: float | None) -> str:
    return "" if native is None else describe_interval(native)


def _percent(count: int, rows: int) -> str:
    """Return a share; a small one is not rounded to none.

    >>> _percent(1, 10_000), _percent(0, 10), _percent(9_999, 10_000), _percent(10, 10)
    ('<0.1 %', '0 %', '>99.9 %', '100 %')
    """
    share = 100 * count / max(rows, 1)
    if 0 < share < 0.1:
        return "<0.1 %"
    if 99.9 < share < 100:
        return ">99.9 %"
    return f"{share:.3g} %"
