"""``axonad evaluate``: metrics of a file of scores against labels."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from axonad import atomic
from axonad.cli.options import AsJson, Force
from axonad.cli.output_files import check_output, write_table
from axonad.cli.terminal import plain_table, print_json, print_line, print_table
from axonad.data.readers import read
from axonad.data.series import Series
from axonad.data.timing import to_seconds
from axonad.errors import ChannelError, DataWarning, InputError
from axonad.metrics import Evaluation, chance_level, evaluate_alarms
from axonad.metrics import evaluate as evaluate_scores
from axonad.metrics.alarm_report import AlarmReport


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
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Compute every metric of scores against labels, next to its chance level.

    If the scores file has a column "alarm", as `axonad score` writes it, these alarms are judged
    too. The figures of scores named F1 use the best threshold in hindsight; those of alarms do not.
    """
    if target is not None:
        inputs = [scores] if labels is None else [scores, labels]
        check_output(target, force=force, inputs=inputs, endings=(".json", ".csv"))
    scored = read(scores)
    truth = scored if labels is None else read(labels)
    if truth.labels is None:
        raise InputError(f"{truth.name} has no column Label; pass --labels FILE")
    period = None if channel is None else _column(truth, channel)
    rule: int | str | None = int(window) if window and window.isdecimal() else window
    times = _usable_times(truth)
    values = _without_gaps(_column(scored, column), scored.name)
    result = evaluate_scores(values, truth.labels, window=rule, channel=period, times=times)
    own = None
    if "alarm" in scored.channels:
        alarms = np.nan_to_num(_column(scored, "alarm"))
        own = evaluate_alarms(alarms, truth.labels, window=result.window, times=times)
    chance = chance_level(truth.labels, window=result.window)
    if as_json:
        print_json(_document(result, chance, own))
    else:
        _print(result, chance, own)
    if target is not None:
        _write(target, result, chance, own)
        if not as_json:
            print_line(f"wrote {target}")


def metric_table(
    result: Evaluation,
    chance: dict[str, float],
    *,
    own: Evaluation | None = None,
    digits: int = 4,
) -> Table:
    """Return a table of every metric next to its chance level, and that of the model's alarms."""
    headings = ("metric", "value", "chance", *(("model's alarms",) if own else ()))
    table = plain_table(*headings, numeric=headings[1:])
    for name, value in result.items():
        cells = [f"{value:.{digits}f}", f"{chance[name]:.{digits}f}"]
        if own:
            cells.append(f"{own[name]:.{digits}f}" if name in own else "")
        table.add_row(name, *cells)
    return table


def _usable_times(series: Series) -> NDArray[np.float64] | None:
    """Return the times in seconds if every row has one and they never decrease."""
    seconds = None if series.times is None else to_seconds(series.times)
    if seconds is None or not np.isfinite(seconds).all() or (np.diff(seconds) < 0).any():
        return None
    return seconds


def _without_gaps(scores: NDArray[np.floating], name: str) -> NDArray[np.floating]:
    """Return the scores with the lowest in place of missing ones, which can raise no alarm."""
    missing = np.isnan(scores)
    if missing.any() and not missing.all():
        count = int(missing.sum())
        warnings.warn(
            f"{name}: {count} of {len(scores)} steps have no score; they count as the lowest",
            DataWarning,
            stacklevel=2,
        )
        return np.where(missing, np.nanmin(scores), scores)
    return scores


def _column(series: Series, name: str) -> NDArray[np.floating]:
    if name not in series.channels:
        raise ChannelError(
            f"{series.name} has no column {name!r}; columns: {', '.join(series.channels)}"
        )
    return series.values[:, series.channels.index(name)]


def _print(result: Evaluation, chance: dict[str, float], own: Evaluation | None) -> None:
    print_table(metric_table(result, chance, own=own))
    oracle = ", ".join(name for name in result if name.endswith("F1"))
    print_line(f"VUS window {result.window} ({result.window_source})")
    print_line(
        f"in hindsight, with the best threshold for these labels ({oracle} under value; here "
        f"{result.alarms.threshold:.6g}): {_describe(result.alarms)}"
    )
    if own is not None:
        print_line(f"the model's own alarms, set without labels: {_describe(own.alarms)}")


def _describe(alarms: AlarmReport) -> str:
    hourly, delay = alarms.false_alarms_per_hour, alarms.median_delay
    return (
        f"precision {alarms.precision:.3f}, recall {alarms.recall:.3f}, "
        f"{alarms.found} events found, {alarms.missed} missed, "
        f"{alarms.false_alarms_per_1000_steps:.2f} false alarms per 1,000 steps"
        + ("" if hourly is None else f" ({hourly:.1f} per hour)")
        + ("" if delay is None else f", median delay {delay:.0f} steps")
    )


def _document(
    result: Evaluation, chance: dict[str, float], own: Evaluation | None
) -> dict[str, Any]:
    document = {**result.as_dict(), "chance": chance}
    if own is not None:
        document["own_alarms"] = own.as_dict()
    return document


def _write(
    target: Path, result: Evaluation, chance: dict[str, float], own: Evaluation | None
) -> None:
    if target.suffix.lower() == ".json":
        text = json.dumps(_document(result, chance, own), indent=2) + "\n"
        atomic.write_bytes(target, text.encode(), overwrite=True)
        return
    names = list(result)
    columns: dict[str, Any] = {
        "metric": names,
        "value": [result[name] for name in names],
        "chance": [chance[name] for name in names],
    }
    if own is not None:
        columns["own_alarms"] = [own.get(name) for name in names]
    write_table(target, columns)
