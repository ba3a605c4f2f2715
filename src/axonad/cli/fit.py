"""``axonad fit``: learn from a file, save a detector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.cli.options import Force, Ignore, LabelColumn, Separator, TimeColumn
from axonad.cli.terminal import check_target, out
from axonad.config import build, parse_assignments, read_toml
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.detector import FILES, Detector
from axonad.errors import InputError
from axonad.registry import detector_class


def fit(
    data: Annotated[Path, typer.Argument(help="Training data, CSV or Parquet.")],
    model: Annotated[Path, typer.Option("--out", "-o", help="Folder to save the detector in.")],
    detector: Annotated[str, typer.Option(help="Name of the detector; see `axonad list`.")] = (
        "AxonAD"
    ),
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="A parameter, NAME=VALUE; may be repeated."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with parameters.")] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Use only the first ROWS rows.", show_default=False)
    ] = None,
    time: TimeColumn = None,
    label: LabelColumn = None,
    ignore: Ignore = None,
    separator: Separator = ",",
    force: Force = False,
) -> None:
    """Fit a detector to normal data and save it."""
    for name in FILES:
        check_target(model / name, force=force)
    made = _make(detector, config, settings)
    series = read(data, time=time, label=label, ignore=ignore or (), separator=separator)
    series = _first_rows(series, rows)
    made.fit(series)
    made.save(model, overwrite=force)
    console = out()
    console.print(f"fitted {made!r}", markup=False)
    console.print(f"  on {series.name}: {len(series)} rows, {len(series.channels)} channels")
    if series.labels is not None and series.labels.any():
        count = int(series.labels.sum())
        console.print(f"  warning: {count} of these rows are labelled anomalous", style="yellow")
    console.print(f"  threshold {made.threshold_:.6g}")
    console.print(f"saved to {model}", markup=False)


def _make(name: str, config: Path | None, settings: list[str] | None) -> Detector:
    cls = detector_class(name)
    params = {} if config is None else read_toml(config)
    return build(cls, params | parse_assignments(cls, settings or []))


def _first_rows(series: Series, rows: int | None) -> Series:
    if rows is None:
        return series
    if rows > len(series):
        raise InputError(f"--rows must be at most the series length {len(series)}, got {rows}")
    return series.rows(0, rows)
