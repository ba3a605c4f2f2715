"""``axonad demo``: a simulated car, faults planted, faults found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out, write_table
from axonad.data.series import Series
from axonad.data.telemetry import PlantedEvent, Telemetry, generate_telemetry
from axonad.detector import Detector
from axonad.metrics import chance_level
from axonad.metrics import evaluate as evaluate_scores
from axonad.progress import working
from axonad.registry import make_detector
from axonad.report.figures import check_format, draw_scores
from axonad.threshold import Event

METRICS = ("VUS-PR", "AUC-PR", "AUC-ROC", "Affiliation-F1")
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
        _write_data(folder, drive, test)
    console.print(
        f"drive: {steps:,} steps x {len(drive.channels)} channels; trained on the first "
        f"{drive.train_end:,}, {len(drive.events)} faults planted in the rest"
    )
    detector = make_detector("AxonAD", epochs=epochs, seed=seed)
    detector.fit(Series(values=drive.values[: drive.train_end], channels=drive.channels))
    result = detector.explain(test)
    scores, components, alarms = result.scores, result.components, result.alarms
    found = result.events(gap=25)
    planted = [(_moved(event, -drive.train_end), event) for event in drive.events]
    _print_planted(planted, scores, alarms, found)
    _print_false_alarms(found, test, detector)
    _print_metrics(scores, drive.labels[drive.train_end :].astype(np.int8))
    write_table(table, _columns(test, scores, components, alarms))
    _draw(figure, detector, test, scores, components, [p for p, _ in planted], alarms)
    console.print(f"wrote {figure} and {table}", markup=False)


def _test_half(drive: Telemetry) -> Series:
    cut = drive.train_end
    return Series(
        values=drive.values[cut:],
        channels=drive.channels,
        labels=drive.labels[cut:].astype(np.int8),
        times=np.arange(cut, len(drive.values)) / drive.sample_rate,
        name="simulated drive",
    )


def _write_data(folder: Path, drive: Telemetry, test: Series) -> None:
    """Write the clean half and the half with faults as files a user could have recorded."""
    cut = drive.train_end
    clean = {name: drive.values[:cut, i] for i, name in enumerate(drive.channels)}
    faulty = {name: test.values[:, i] for i, name in enumerate(drive.channels)}
    seconds = np.arange(len(drive.values)) / drive.sample_rate
    write_table(folder / "normal.csv", {"t_s": seconds[:cut], **clean})
    labels = drive.labels[cut:]
    write_table(folder / "drive.csv", {"t_s": seconds[cut:], **faulty, "Label": labels})


def _moved(event: PlantedEvent, steps: int) -> PlantedEvent:
    return PlantedEvent(event.kind, event.channels, event.start + steps, event.end + steps)


def _print_planted(
    planted: list[tuple[PlantedEvent, PlantedEvent]],
    scores: NDArray[np.float64],
    alarms: NDArray[np.bool_],
    found: list[Event],
) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("steps", "planted fault", "in channels", "found", "score", "blamed first"):
        table.add_column(heading, justify="right" if heading == "score" else "left")
    for local, event in planted:
        hit = bool(alarms[local.start : local.end].any())
        named = [e for e in found if e.start < local.end and local.start < e.end]
        strongest = max(named, key=lambda e: e.score, default=None)
        table.add_row(
            f"{event.start}–{event.end - 1}",
            event.kind,
            ", ".join(event.channels),
            "[green]yes[/]" if hit else "[red]no[/]",
            f"{scores[local.start : local.end].max():.1f}",
            ", ".join(strongest.channels[:2]) if strongest else "",
        )
    console = out()
    console.print(table)
    hits = sum(bool(alarms[local.start : local.end].any()) for local, _ in planted)
    console.print(f"found {hits} of {len(planted)} planted faults", style="bold")


def _print_false_alarms(found: list[Event], test: Series, detector: Detector) -> None:
    if test.labels is None:
        return
    margin = detector.history // 2  # a window that touches a fault may sound before or after it
    near = np.convolve(test.labels, np.ones(2 * margin + 1), mode="same") > 0
    false = sum(not near[e.start : e.end].any() for e in found)
    out().print(
        f"{false} false alarm{'s' if false != 1 else ''} in {len(test) - int(near.sum()):,} "
        f"normal steps (threshold {detector.threshold_:.2f}, from training scores alone)"
    )


def _print_metrics(scores: NDArray[np.float64], labels: NDArray[np.int8]) -> None:
    result = evaluate_scores(scores, labels, metrics=METRICS)
    chance = chance_level(labels, metrics=METRICS)
    table = Table(box=None, pad_edge=False)
    for heading in ("metric", "value", "chance"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for name in METRICS:
        table.add_row(name, f"{result[name]:.3f}", f"{chance[name]:.3f}")
    out().print(table)


def _columns(
    test: Series,
    scores: NDArray[np.float64],
    components: dict[str, NDArray[np.float64]],
    alarms: NDArray[np.bool_],
) -> dict[str, NDArray[np.generic]]:
    times = test.times if test.times is not None else np.arange(len(test))
    return {
        "time": times,
        "score": scores,
        **components,
        "alarm": alarms.astype(np.int8),
        "label": test.labels if test.labels is not None else np.zeros(len(test), np.int8),
    }


def _draw(
    path: Path,
    detector: Detector,
    test: Series,
    scores: NDArray[np.float64],
    components: dict[str, NDArray[np.float64]],
    planted: list[PlantedEvent],
    alarms: NDArray[np.bool_],
) -> None:
    draw_scores(
        path,
        series=test,
        scores=scores,
        threshold=detector.threshold_,
        components=components,
        planted=[(event, bool(alarms[event.start : event.end].any())) for event in planted],
        channels=[name for name in CHANNELS if name in test.channels],
        title="Simulated drive: planted faults found (green) and missed (red), alarms as ticks",
    )
