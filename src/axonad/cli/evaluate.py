"""``axonad evaluate``: metrics of a file of scores against labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out, write_table
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.errors import ChannelError, InputError, UnknownNameError
from axonad.metrics import Evaluation, chance_level
from axonad.metrics import evaluate as evaluate_scores


def evaluate(
    scores: Annotated[Path, typer.Argument(help="Scores, CSV or Parquet with a column `score`.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="File with a column Label. Default: the scores file itself."),
    ] = None,
    column: Annotated[str, typer.Option(help="Column with the scores.")] = "score",
    window: Annotated[
        str | None,
        typer.Option(help="VUS window: steps, or tsb-ad-1.5 / tsb-ad-2026 (with --channel)."),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(help="Column of the labels file whose period sets the VUS window."),
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the metrics, .json or .csv.")
    ] = None,
    force: Force = False,
) -> None:
    """Judge scores by labels: every metric beside its chance level."""
    if target is not None:
        if target.suffix.lower() not in (".json", ".csv"):
            raise UnknownNameError(
                f"cannot write {target.name!r}: its ending must be .json or .csv"
            )
        check_target(target, force=force, reads=[scores, *([labels] if labels else [])])
    scored = read(scores)
    truth = scored if labels is None else read(labels)
    if truth.labels is None:
        raise InputError(f"{truth.name} has no column Label; pass --labels FILE")
    period = None if channel is None else _column(truth, channel)
    rule: int | str | None = int(window) if window and window.isdecimal() else window
    result = evaluate_scores(
        _column(scored, column), truth.labels, window=rule, channel=period,
        times=_numeric_times(truth),
    )  # fmt: skip
    chance = chance_level(truth.labels, window=result.window)
    _print(result, chance)
    if target is not None:
        _write(target, result, chance)
        out().print(f"wrote {target}", markup=False)


def _column(series: Series, name: str) -> NDArray[np.floating]:
    if name not in series.channels:
        raise ChannelError(
            f"{series.name} has no column {name!r}; columns: {', '.join(series.channels)}"
        )
    return series.values[:, series.channels.index(name)]


def _numeric_times(series: Series) -> NDArray[np.generic] | None:
    if series.times is None or series.times.dtype.kind not in "iufM":
        return None
    return series.times


def metric_table(result: Evaluation, chance: dict[str, float], *, digits: int = 4) -> Table:
    """Return every metric beside its chance level as a table to print."""
    table = Table(box=None, pad_edge=False)
    for heading in ("metric", "value", "chance"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for name, value in result.items():
        table.add_row(name, f"{value:.{digits}f}", f"{chance[name]:.{digits}f}")
    return table


def _print(result: Evaluation, chance: dict[str, float]) -> None:
    console = out()
    console.print(metric_table(result, chance))
    alarms = result.alarms
    hourly = alarms.false_alarms_per_hour is not None
    console.print(f"VUS window {result.window} ({result.window_source})")
    console.print(
        f"at the best threshold {alarms.threshold:.6g}: precision {alarms.precision:.3f}, "
        f"recall {alarms.recall:.3f}, {alarms.found} events found, {alarms.missed} missed, "
        f"{alarms.false_alarms_per_1000_steps:.2f} false alarms per 1,000 steps"
        + (f" ({alarms.false_alarms_per_hour:.1f} per hour)" if hourly else "")
    )
    if alarms.median_delay is not None:
        console.print(f"median delay of the events found: {alarms.median_delay:.0f} steps")


def _write(target: Path, result: Evaluation, chance: dict[str, float]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix.lower() == ".json":
        document = {**result.as_dict(), "chance": chance}
        target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        return
    names = list(result)
    write_table(
        target,
        {
            "metric": names,
            "value": [result[n] for n in names],
            "chance": [chance[n] for n in names],
        },
    )
