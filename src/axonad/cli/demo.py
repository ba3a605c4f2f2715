"""``axonad demo``: simulate a drive with planted faults and detect them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from axonad import __version__, atomic
from axonad.alarms.event import AlarmEvent
from axonad.alarms.recalibrate import recalibrate
from axonad.cli.evaluate import metric_table
from axonad.cli.options import Force
from axonad.cli.output_files import can_draw_to, check_output, write_table
from axonad.cli.score_table import score_columns
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.data.series import Series
from axonad.data.telemetry import PlantedEvent, Telemetry, generate_telemetry
from axonad.detector import Detector
from axonad.explanation import Explanation
from axonad.metrics import chance_level
from axonad.metrics import evaluate as evaluate_scores
from axonad.multiview.installed import usable_views
from axonad.progress import lines, working
from axonad.registry import make_detector
from axonad.report.page.card import describe_model
from axonad.report.page.content import Page, Source
from axonad.report.page.document import render
from axonad.report.page.gather import keep_strongest, overview_points, view_recording
from axonad.report.page.scoring import EXPLAINED, Scored, score_series
from axonad.report.score_figure import draw_scores
from axonad.report.times import format_time

METRICS = ("VUS-PR", "AUC-PR", "AUC-ROC", "Affiliation-F1")
OTHER = 10_000  # from the seed of the drive to that of the drive that sets the threshold
BUDGET = "1 per hour"
DATA_FILES = ("normal.csv", "drive.csv", "other.csv")
CHANNELS = ("steering_angle", "yaw_rate", "lateral_accel", "vehicle_speed")


def demo(
    steps: Annotated[int, typer.Option(min=4_000, help="Length of the drive in steps.")] = 40_000,
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of training epochs.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation and the fit.")] = 2024,
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the figure, the scores and the page.")
    ] = Path("demo"),
    data: Annotated[
        bool,
        typer.Option(
            "--data",
            help="Also write the data: normal.csv to fit, other.csv to calibrate, drive.csv.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Simulate a drive, fit on its fault-free half, show which planted faults are found.

    The alarm threshold comes from another drive without faults.
    """
    with lines():
        _demo(steps, epochs, seed, folder, data=data, force=force)


def _demo(steps: int, epochs: int, seed: int, folder: Path, *, data: bool, force: bool) -> None:
    figure, table, page = (folder / name for name in ("demo.png", "scores.csv", "report.html"))
    can_draw, views = can_draw_to(figure), usable_views()
    data_files = [folder / name for name in DATA_FILES] if data else []
    for path in (figure, table, page, *data_files):
        check_output(path, force=force)
    with working("simulating two drives"):
        drive = generate_telemetry(steps=steps, seed=seed)
        other = generate_telemetry(steps=steps, seed=seed + OTHER)
    test = _test_half(drive)
    if data:
        _write_data(folder, drive, other)
    print_line(
        f"drive: {steps:,} steps x {len(drive.channels)} channels; trained on the first "
        f"{drive.train_end:,}, {len(drive.events)} faults planted in the rest, which is scored"
    )
    detector = make_detector("MultiView", views=views, epochs=epochs, seed=seed)
    detector.fit(_normal(drive))
    _set_alarms(detector, _normal(other), drive.sample_rate)
    with working("scoring the drive with faults"):
        result = detector.explain(test)  # at the end of windows, as alarms are judged
    with working("explaining the events"):
        scored = score_series(detector, test, found=result)
    raised = [timed.event for timed in scored.events if isinstance(timed.event, AlarmEvent)]
    cut = drive.train_end
    planted = [replace(e, start=e.start - cut, end=e.end - cut) for e in drive.events]
    hits = [any(_overlap(event, fault) for event in raised) for fault in planted]
    _print_planted(planted, raised, result, test)
    _print_false_alarms(raised, drive.test_labels, after=detector.history)
    metrics = evaluate_scores(result.scores, drive.test_labels, metrics=METRICS)
    print_table(metric_table(metrics, chance_level(drive.test_labels, metrics=METRICS), digits=3))
    write_table(table, score_columns(test, result))
    if can_draw:
        draw_scores(
            figure,
            series=test,
            scores=result.scores,
            threshold=result.threshold,
            components=result.components,
            planted=list(zip(planted, hits, strict=True)),
            events=raised,
            channels=CHANNELS,
            title="Simulated drive with planted faults",
        )
    command = f"axonad demo --steps {steps} --epochs {epochs} --seed {seed} --out demo"
    atomic.write_bytes(page, _page(detector, scored, command), overwrite=True)
    print_line(f"wrote {f'{figure}, ' if can_draw else ''}{table} and {page}")


def _normal(drive: Telemetry) -> Series:
    return Series(values=drive.train, channels=drive.channels)


def _set_alarms(detector: Detector, normal: Series, rate: float) -> None:
    """Choose the alarm policy on a drive without faults and say what it rests on."""
    with working("scoring a drive without faults"):
        setup, found = recalibrate(detector, [normal], budget=BUDGET, seconds_per_step=1 / rate)
    detector.set_alarms(setup)
    print_line(f"threshold from another drive without faults: {found.notes()[0]}")


def _test_half(drive: Telemetry) -> Series:
    return Series(
        values=drive.test,
        channels=drive.channels,
        labels=drive.test_labels,
        times=np.arange(drive.train_end, len(drive.values)) / drive.sample_rate,
        name="simulated drive",
    )


def _page(detector: Detector, scored: Scored, command: str) -> bytes:
    """Return the page of `axonad report` about the scored half of the drive."""
    view = view_recording(
        detector,
        scored,
        source=Source(scored.series.name),
        place=1,
        first_number=1,
        points=overview_points(recordings=1, channels=len(scored.series.channels)),
    )
    views, listed_only = keep_strongest([view], EXPLAINED)
    return render(
        Page(
            title="Simulated drive with planted faults",
            card=describe_model(detector, "of this run, not saved"),
            recordings=views,
            commands=(command,),
            version=__version__,
            listed_only=listed_only,
        )
    )


def _write_data(folder: Path, drive: Telemetry, other: Telemetry) -> None:
    """Write both halves of the drive and the fault-free half of the other as CSV files."""
    cut, seconds = drive.train_end, np.arange(len(drive.values)) / drive.sample_rate
    clean = dict(zip(drive.channels, drive.train.T, strict=True))
    faulty = dict(zip(drive.channels, drive.test.T, strict=True))
    more = dict(zip(other.channels, other.train.T, strict=True))
    write_table(folder / "normal.csv", {"t_s": seconds[:cut], **clean})
    write_table(folder / "other.csv", {"t_s": seconds[:cut], **more})
    write_table(folder / "drive.csv", {"t_s": seconds[cut:], **faulty, "Label": drive.test_labels})


def _print_planted(
    planted: list[PlantedEvent], raised: list[AlarmEvent], result: Explanation, scored: Series
) -> None:
    """Print which faults were found, by step and time as the table of scores has them."""
    headings = ("steps", "time (s)", "planted fault", "in channels", "found", "score", "severity",
                "explained as")  # fmt: skip
    table, count = plain_table(*headings, numeric=("score",)), 0
    times = scored.times if scored.times is not None else np.arange(len(scored))
    for fault in planted:
        found = [event for event in raised if _overlap(event, fault)]
        strongest = max(found, key=lambda event: event.score, default=None)
        count += bool(found)
        table.add_row(
            f"{fault.start}–{fault.end - 1}",
            f"{format_time(times[fault.start])}–{format_time(times[fault.end - 1])}",
            fault.kind,
            ", ".join(fault.channels),
            "[green]yes[/]" if found else "[red]no[/]",
            f"{result.scores[fault.start : fault.end].max():.1f}",
            strongest.severity if strongest else "",
            _told(strongest) if strongest else "",
        )
    print_table(table)
    print_line(f"found {count} of {len(planted)} planted faults", style="bold")


def _told(event: AlarmEvent) -> str:
    """Return kind and channels of an event, the channels to blame first."""
    if event.why is None:
        return ", ".join(event.channels[:2])
    return f"{event.why.kind}: {', '.join(event.why.channels)}"


def _print_false_alarms(raised: list[AlarmEvent], labels: NDArray[np.int8], *, after: int) -> None:
    """Count the events outside of faults; windows may hold a fault for ``after`` rows after it."""
    near = np.convolve(labels, np.ones(after + 1))[: len(labels)] > 0
    false = sum(not near[event.start : event.end].any() for event in raised)
    print_line(
        f"{false} false event{'s' if false != 1 else ''} in {int((~near).sum()):,} normal steps"
    )


def _overlap(event: AlarmEvent, fault: PlantedEvent) -> bool:
    return event.start < fault.end and fault.start < event.end
