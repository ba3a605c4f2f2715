"""``axonad evaluate``: metrics of a file of scores against labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from axonad import atomic
from axonad.cli.options import Force
from axonad.cli.output_files import check_output, write_table
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.errors import ChannelError, InputError
from axonad.metrics import Evaluation, chance_level
from axonad.metrics import evaluate as evaluate_scores


def evaluate(
    scores: Annotated[Path, typer.Argument(help="CSV or Parquet file with a column of scores.")],
    labels: Annotated[
        Path | None, typer.Option(help="File with a column Label. Default: the scores file itself.")
    ] = None,
    column: Annotated[str, typer.Option(help="Column with the scores.")] = "score",
    window: Annotated[
        str | None,
        typer.Option(
            help="VUS window: a number of steps, or the rule tsb-ad-1.5 or tsb-ad-2026, which "
            "needs --channel."
        ),
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="Column of the labels file whose period sets the VUS window.")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write the metrics to this .json or .csv file."),
    ] = None,
    force: Force = False,
) -> None:
    """Compute every metric of scores against labels, next to its chance level."""
    if target is not None:
        inputs = [scores] if labels is None else [scores, labels]
        check_output(target, force=force, inputs=inputs, endings=(".json", ".csv"))
    scored = read(scores)
    truth = scored if labels is None else read(labels)
    if truth.labels is None:
        raise InputError(f"{truth.name} has no column Label; pass --labels FILE")
    period = None if channel is None else _column(truth, channel)
    rule: int | str | None = int(window) if window and window.isdecimal() else window
    has_numeric_times = truth.times is not None and truth.times.dtype.kind in "iufM"
    result = evaluate_scores(
        _column(scored, column), truth.labels, window=rule, channel=period,
        times=truth.times if has_numeric_times else None,
    )  # fmt: skip
    chance = chance_level(truth.labels, window=result.window)
    _print(result, chance)
    if target is not None:
        _write(target, result, chance)
        print_line(f"wrote {target}")


def metric_table(result: Evaluation, chance: dict[str, float], *, digits: int = 4) -> Table:
    """Return a table of every metric next to its chance level."""
    table = plain_table("metric", "value", "chance", numeric=("value", "chance"))
    for name, value in result.items():
        table.add_row(name, f"{value:.{digits}f}", f"{chance[name]:.{digits}f}")
    return table


def _column(series: Series, name: str) -> NDArray[np.floating]:
    if name not in series.channels:
        raise ChannelError(
            f"{series.name} has no column {name!r}; columns: {', '.join(series.channels)}"
        )
    return series.values[:, series.channels.index(name)]


def _print(result: Evaluation, chance: dict[str, float]) -> None:
    print_table(metric_table(result, chance))
    alarms = result.alarms
    hourly = alarms.false_alarms_per_hour
    print_line(f"VUS window {result.window} ({result.window_source})")
    print_line(
        f"at the best threshold {alarms.threshold:.6g}: precision {alarms.precision:.3f}, "
        f"recall {alarms.recall:.3f}, {alarms.found} events found, {alarms.missed} missed, "
        f"{alarms.false_alarms_per_1000_steps:.2f} false alarms per 1,000 steps"
        + ("" if hourly is None else f" ({hourly:.1f} per hour)")
    )
    if alarms.median_delay is not None:
        print_line(f"median delay of the events found: {alarms.median_delay:.0f} steps")


def _write(target: Path, result: Evaluation, chance: dict[str, float]) -> None:
    if target.suffix.lower() == ".json":
        text = json.dumps({**result.as_dict(), "chance": chance}, indent=2) + "\n"
        atomic.write_bytes(target, text.encode(), overwrite=True)
        return
    names = list(result)
    values, chances = [result[name] for name in names], [chance[name] for name in names]
    write_table(target, {"metric": names, "value": values, "chance": chances})
