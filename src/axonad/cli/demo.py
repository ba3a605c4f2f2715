"""``axonad demo``: a simulated car, faults planted, faults found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from axonad.cli.evaluate import metric_table
from axonad.cli.options import Force
from axonad.cli.score import score_columns
from axonad.cli.terminal import check_target, out, write_table
from axonad.data.series import Series
from axonad.data.telemetry import PlantedEvent, Telemetry, generate_telemetry
from axonad.explanation import Explanation
from axonad.metrics import chance_level
from axonad.metrics import evaluate as evaluate_scores
from axonad.progress import working
from axonad.registry import make_detector
from axonad.report.drawing import check_format
from axonad.report.score_figure import draw_scores

METRICS = ("VUS-PR", "AUC-PR", "AUC-ROC", "Affiliation-F1")
GAP = 25  # alarms at most this many steps apart are one event
CHANNELS = ("steering_angle", "yaw_rate", "lateral_accel", "vehicle_speed")


def demo(
    steps: Annotated[int, typer.Option(min=4_000, help="Length of the drive.")] = 20_000,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of training at most.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drive and of the fit.")] = 2024,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for figure and scores.")] = (
        Path("demo")
    ),
    data: Annotated[
        bool,
        typer.Option(
            "--data", help="Also write normal.csv and drive.csv, to try fit and score on."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Generate a drive with faults, fit on its clean half, show which faults were found."""
    figure, table = folder / "demo.png", folder / "scores.csv"
    extra = [folder / "normal.csv", folder / "drive.csv"] if data else []
    check_format(figure)
    for path in (figure, table, *extra):
        check_target(path, force=force)
    console = out()
    with working("driving"):
        drive = generate_telemetry(steps=steps, seed=seed)
    test = _test_half(drive)
    if data:
        _write_data(folder, drive)
    console.print(
        f"drive: {steps:,} steps x {len(drive.channels)} channels; trained on the first "
        f"{drive.train_end:,}, {len(drive.events)} faults planted in the rest"
    )
    detector = make_detector("AxonAD", epochs=epochs, seed=seed)
    detector.fit(Series(values=drive.train, channels=drive.channels))
    result = detector.explain(test)
    planted = [_moved(event, -drive.train_end) for event in drive.events]
    hits = [bool(result.alarms[event.start : event.end].any()) for event in planted]
    _print_planted(drive, planted, hits, result)
    _print_false_alarms(result, drive.test_labels, margin=detector.history // 2)
    judged = evaluate_scores(result.scores, drive.test_labels, metrics=METRICS)
    console.print(metric_table(judged, chance_level(drive.test_labels, metrics=METRICS), digits=3))
    write_table(table, score_columns(test, result))
    draw_scores(
        figure,
        series=test,
        scores=result.scores,
        threshold=result.threshold,
        components=result.components,
        planted=list(zip(planted, hits, strict=True)),
        channels=CHANNELS,
        title="Simulated drive: planted faults found (green) and missed (red), alarms as ticks",
    )
    console.print(f"wrote {figure} and {table}", markup=False)


def _test_half(drive: Telemetry) -> Series:
    return Series(
        values=drive.test,
        channels=drive.channels,
        labels=drive.test_labels,
        times=np.arange(drive.train_end, len(drive.values)) / drive.sample_rate,
        name="simulated drive",
    )


def _write_data(folder: Path, drive: Telemetry) -> None:
    """Write the clean half and the half with faults as files a user could have recorded."""
    cut, seconds = drive.train_end, np.arange(len(drive.values)) / drive.sample_rate
    clean = dict(zip(drive.channels, drive.train.T, strict=True))
    faulty = dict(zip(drive.channels, drive.test.T, strict=True))
    write_table(folder / "normal.csv", {"t_s": seconds[:cut], **clean})
    write_table(folder / "drive.csv", {"t_s": seconds[cut:], **faulty, "Label": drive.test_labels})


def _moved(event: PlantedEvent, steps: int) -> PlantedEvent:
    return PlantedEvent(event.kind, event.channels, event.start + steps, event.end + steps)


def _print_planted(
    drive: Telemetry, planted: list[PlantedEvent], hits: list[bool], result: Explanation
) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("steps", "planted fault", "in channels", "found", "score", "blamed first"):
        table.add_column(heading, justify="right" if heading == "score" else "left")
    raised = result.events(gap=GAP, top=2)
    for event, local, hit in zip(drive.events, planted, hits, strict=True):
        near = [e for e in raised if e.start < local.end and local.start < e.end]
        strongest = max(near, key=lambda e: e.score, default=None)
        table.add_row(
            f"{event.start}–{event.end - 1}",
            event.kind,
            ", ".join(event.channels),
            "[green]yes[/]" if hit else "[red]no[/]",
            f"{result.scores[local.start : local.end].max():.1f}",
            ", ".join(strongest.channels) if strongest else "",
        )
    console = out()
    console.print(table)
    console.print(f"found {sum(hits)} of {len(hits)} planted faults", style="bold")


def _print_false_alarms(result: Explanation, labels: NDArray[np.int8], *, margin: int) -> None:
    """Count events away from every fault; a window that touches one may sound a little early."""
    near = np.convolve(labels, np.ones(2 * margin + 1), mode="same") > 0
    false = sum(not near[e.start : e.end].any() for e in result.events(gap=GAP))
    out().print(
        f"{false} false alarm{'s' if false != 1 else ''} in {int((~near).sum()):,} "
        f"normal steps (threshold {result.threshold:.2f}, from training scores alone)"
    )
