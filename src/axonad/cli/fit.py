"""``axonad fit``: fit a detector to a file and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.cli import options
from axonad.cli.missing_values import fill_series, make_filler
from axonad.cli.options import Fill, Force, Ignore, LabelColumn, MaxHold, Separator, TimeColumn
from axonad.cli.output_files import check_output
from axonad.cli.reading import read_options
from axonad.cli.terminal import print_line
from axonad.config import build, parse_assignments, read_toml
from axonad.data.readers import read
from axonad.data.units import units_of
from axonad.errors import InputError
from axonad.registry import detector_class
from axonad.saving import FILES


def fit(
    data: Annotated[
        Path,
        typer.Argument(help="Training data: CSV, Parquet, MDF, BLF, ASC, candump log or MCAP."),
    ],
    model: Annotated[Path, typer.Option("--out", "-o", help="Folder to save the detector in.")],
    detector: Annotated[
        str, typer.Option(help="Name of the detector; `axonad list`. AxonAD is the paper's.")
    ] = "MultiView",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="A parameter as NAME=VALUE; may be repeated."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with parameters; --set takes precedence.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            help="Channel that only sets the scene, such as an ambient temperature: never judged "
            "or blamed. Several: A,B or repeated.",
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Use only the first ROWS rows.")] = None,
    time: TimeColumn = None,
    label: LabelColumn = None,
    channels: options.Channels = None,
    ignore: Ignore = None,
    codes: options.Codes = False,
    rename: options.Rename = None,
    dbc: options.Dbc = None,
    rate: options.Rate = None,
    max_age: options.MaxAge = None,
    fill: Fill = None,
    max_hold: MaxHold = None,
    separator: Separator = None,
    force: Force = False,
) -> None:
    """Fit a detector to normal data and save it."""
    for name in FILES:
        check_output(model / name, force=force)
    filler = make_filler(fill, max_hold)
    cls = detector_class(detector)
    params = {} if config is None else read_toml(config)
    params |= parse_assignments(cls, settings or [])
    if context:
        params["context"] = _split_names(context)
    made = build(cls, params)
    columns = read_options(
        time=time, label=label, channels=channels, ignore=ignore, codes=codes, rename=rename,
        dbc=dbc, rate=rate, max_age=max_age, separator=separator,
    )  # fmt: skip
    series = read(data, **columns)
    if rows is not None:
        if rows > len(series):
            raise InputError(f"--rows must be at most the series length {len(series)}, got {rows}")
        series = series.rows(0, rows)
    made.fit(fill_series(series, filler))
    made.units_ = units_of(series)
    made.save(model, overwrite=force)
    print_line(f"fitted {made!r}")
    report, *more = str(made.fit_report_).splitlines()
    print_line(f"  on {series.name}: {report}")
    if series.labels is not None and series.labels.any():
        count = int(series.labels.sum())
        print_line(f"  warning: {count} of these rows are labelled anomalous", style="yellow")
    for line in more:
        print_line(f"  {line}", style="yellow" if line.startswith("warning") else None)
    print_line(f"saved to {model}")


def _split_names(texts: list[str]) -> tuple[str, ...]:
    """Return names that are separated by commas, each once.

    >>> _split_names(["a, b", "a"])
    ('a', 'b')
    """
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))
