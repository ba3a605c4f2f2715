"""Draw what each view of MultiView sees: ``python docs/img/multiview.py``, a few minutes on a core.

Four pictures beside this file, one per view: a generated recording with one fault that this view
sees and the others do not. The faults were chosen for that, among several kinds, sizes and places.
The peaks that the pictures show are printed too, as a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.telemetry import UNITS
from axonad.data.vehicle import CHANNELS, as_read, simulate_drive
from axonad.multiview.detector import MultiView
from axonad.report.drawing import BLUE, CHANNEL, LABELLED, RED, new_figure, save_figure, trim_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Scores = Mapping[str, Array]

FOLDER = Path(__file__).parent
NETWORK = {"window": 100, "d_model": 64, "epochs": 10, "epoch_windows": 1000}  # small and quick
SEED = 3001
LEARNED = 10_000  # rows of a recording from which the views learn; the fault lies in the others
AROUND = 250  # rows shown before and after a fault
BEATS = 3_000  # rows of the heartbeats after those of training
NAMES = {"shape": "shape memory"}  # of views, where not the same
HEADER = "| case | view | peak in the fault | 99 % of normal rows | highest normal | as high |"
LEGEND = (
    "Shaded: the fault. Dotted: without the fault. Dashed: 99 % of normal rows score below.\n"
    "Right: the highest score in the fault, and the highest of all normal rows."
)


class Panel(NamedTuple):
    """A channel as it is shown, with and without the fault."""

    name: str
    faulty: Array
    normal: Array


class Case(NamedTuple):
    """A recording with a fault, and the same without it."""

    view: str  # the one that sees it
    title: str
    panels: tuple[Panel, ...]
    normal: Array  # (rows, channels), rows that the views have not learned from
    faulty: Array
    start: int
    end: int


# -- heartbeats ------------------------------------------------------------------------------


def make_beats(*, odd: int | None = None) -> tuple[Array, int]:
    """Return two channels of heartbeats on a wandering base line, and the row of the odd beat.

    Each beat is a sharp wave, followed by a broad one. The odd beat is the first one after row
    ``odd``: there the broad wave comes late.
    """
    rng, rows, place = np.random.default_rng(SEED), LEARNED + BEATS, -1
    times, course, at = np.arange(rows), np.zeros((rows, 2)), 20.0
    while at < rows + 60:
        sharp, broad = rng.normal(1.0, 0.08, size=2)
        later = 26.0
        if odd is not None and place < 0 and at > odd:
            place, later = int(at), 40.0
        for column, (high, low, delay) in enumerate(((1.0, 0.3, 0.0), (0.6, 0.35, 1.0))):
            course[:, column] += high * sharp * _bell(times, at + delay, 2.5)
            course[:, column] += low * broad * _bell(times, at + later, 7.0)
        at += rng.normal(80.0, 4.0)
    hann = np.hanning(402) / np.linalg.norm(np.hanning(402))
    drawn = rng.normal(size=(rows + 401, 2))
    base = np.stack([np.convolve(column, hann, "valid") for column in drawn.T], axis=1)
    return course + 0.3 * base + rng.normal(scale=0.012, size=(rows, 2)), place


def _bell(times: Array, centre: float, width: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((times - centre) / width) ** 2))


def heartbeats() -> tuple[Array, list[Case]]:
    """Return normal heartbeats, and the case of a beat with another shape."""
    normal, _ = make_beats()
    faulty, place = make_beats(odd=LEARNED + 2_000)
    start = place - LEARNED
    train, normal, faulty = normal[:LEARNED], normal[LEARNED:], faulty[LEARNED:]
    names = "first lead", "second lead"
    case = Case(
        "shape", "Heartbeats; in one of them the broad wave comes too late",
        tuple(Panel(n, faulty[:, i], normal[:, i]) for i, n in enumerate(names)),
        normal, faulty, start - 10, start + 70,
    )  # fmt: skip
    return train, [case]


# -- drives ----------------------------------------------------------------------------------


def drive() -> tuple[Array, list[Case]]:
    """Return a normal drive with 19 channels, and two cases of a faulty sensor."""
    values, start = _simulate(), 1_500
    pedal = "accelerator_pedal", "engine_torque", "vehicle_speed"
    noise = np.random.default_rng(SEED).normal(scale=8.0, size=120)
    loose = _add(
        "forecast", "A drive; the pedal sensor has a loose contact", values[LEARNED:], pedal,
        start, noise,
    )  # fmt: skip
    wheels = "wheel_speed_fl", "wheel_speed_fr"
    drift = 1.5 * np.sin(np.pi * np.arange(240) / 240) ** 2
    wrong = _add(
        "relation", "A drive; the front left wheel reads up to 1.5 km/h too fast",
        values[LEARNED:], wheels, start, drift,
    )  # fmt: skip
    left, right = wrong.panels
    difference = Panel(
        "left minus right\n(km/h)", left.faulty - right.faulty, left.normal - right.normal
    )
    return values[:LEARNED], [loose, wrong._replace(panels=(left, right, difference))]


def gears() -> tuple[Array, list[Case]]:
    """Return three channels of the same drive, and the case of a shift that the sensor misses."""
    names = "gear", "engine_speed", "vehicle_speed"
    values = _simulate()[:, [CHANNELS.index(name) for name in names]]
    normal = values[LEARNED:]
    shifts = np.flatnonzero(np.diff(normal[:, 0])) + 1
    start, end = next(
        (int(a), int(b))
        for a, b in pairwise(shifts)
        if a > AROUND and b - a > 70 and normal[a - 1, 0] == normal[b, 0] == normal[a, 0] + 1
    )
    faulty = normal.copy()
    faulty[start:end, 0] += 1
    case = Case(
        "network", "Three channels of a drive; the gear sensor misses that the car shifts down",
        tuple(Panel(_label(n), faulty[:, i], normal[:, i]) for i, n in enumerate(names)),
        normal, faulty, start, end,
    )  # fmt: skip
    return values[:LEARNED], [case]


def _simulate() -> Array:
    return simulate_drive(2 * LEARNED, np.random.default_rng(SEED))


def _add(
    view: str, title: str, normal: Array, names: tuple[str, ...], start: int, change: Array
) -> Case:
    """Return the case of a change that is added to the first of the named channels."""
    columns = [CHANNELS.index(name) for name in names]
    end, faulty = start + len(change), normal.copy()
    faulty[start:end, columns[0]] += change
    faulty = as_read(faulty)
    panels = tuple(
        Panel(_label(name), faulty[:, column], normal[:, column])
        for name, column in zip(names, columns, strict=True)
    )
    return Case(view, title, panels, normal, faulty, start, end)


def _label(name: str) -> str:
    words = {"wheel_speed_fl": "front left wheel", "wheel_speed_fr": "front right wheel"}
    unit = "" if name == "gear" else f"\n({UNITS[name]})"
    return words.get(name, name.replace("_", " ")) + unit


# -- pictures --------------------------------------------------------------------------------


def draw(case: Case, normal: Scores, faulty: Scores) -> None:
    """Draw the channels and, below them, the scores of all views with and without the fault."""
    path, rows = FOLDER / f"view-{case.view}.png", slice(case.start - AROUND, case.end + AROUND)
    count, times = len(case.panels), np.arange(rows.start, rows.stop)
    figure, axes = new_figure(
        path, count + len(faulty), 1, figsize=(8.5, 0.95 * count + 0.72 * len(faulty) + 1.1),
        sharex=True, height_ratios=[1.0] * count + [0.72] * len(faulty),
    )  # fmt: skip
    inside = slice(AROUND - 1, AROUND + case.end - case.start + 1)
    for axis, panel in zip(axes, case.panels, strict=False):
        shown, was = panel.faulty[rows], panel.normal[rows]
        axis.plot(times, shown, color=CHANNEL, linewidth=1.0)
        if not np.array_equal(shown, was):
            axis.plot(times[inside], was[inside], color="black", linewidth=0.9, linestyle=":")
            axis.plot(times[inside], shown[inside], color=RED, linewidth=1.3)
        axis.margins(y=0.12)
        _name(axis, panel.name)
    highest = max(float(scores[rows].max()) for scores in faulty.values())
    for axis, (view, scores) in zip(axes[count:], faulty.items(), strict=True):
        sees = view == case.view
        axis.plot(times, scores[rows], color=BLUE if sees else "black", linewidth=1.2)
        axis.fill_between(times, scores[rows], color=BLUE if sees else CHANNEL, alpha=0.25)
        axis.axhline(np.quantile(normal[view], 0.99), color=RED, linewidth=0.9, linestyle="--")
        axis.set_ylim(0, 1.1 * highest)
        _name(axis, f"score of the\n{NAMES.get(view, view)}", weight="bold" if sees else "normal")
        peak, most = find_peak(case, scores), float(normal[view].max())
        axis.text(
            1.01, 0.5, f"fault: {peak:.2f}\nnormal: {most:.2f}", transform=axis.transAxes,
            va="center", fontsize=8.5, weight="bold" if sees else "normal",
        )  # fmt: skip
    for axis in axes:
        axis.axvspan(case.start, case.end - 1, color=LABELLED, alpha=0.22, linewidth=0)
        axis.margins(x=0)
        trim_axis(axis)
    axes[-1].set_xlabel(f"row\n\n{LEGEND}", fontsize=8.5)
    figure.suptitle(case.title, fontsize=11)
    figure.align_ylabels()
    save_figure(figure, path)


def _name(axis: Axes, text: str, *, weight: str = "normal") -> None:
    axis.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8.5, weight=weight)


def find_peak(case: Case, scores: Array) -> float:
    """Return the highest score of the rows of the fault."""
    return float(scores[case.start : case.end].max())


def share_above(case: Case, normal: Array, peak: float) -> float:
    """Return the share of stretches of normal rows, as long as the fault, that peak as high."""
    windows = np.lib.stride_tricks.sliding_window_view(normal, case.end - case.start)
    return float((windows.max(axis=1) >= peak).mean())


def main() -> None:
    """Fit the views to each recording, draw its cases and print their peaks."""
    rows = [HEADER, "|---" * HEADER.count(" | ") + "|---|"]
    for make in (heartbeats, drive, gears):
        train, cases = make()
        detector = MultiView(self_tested=False, network=NETWORK, device="cpu", verbose=False)
        detector.fit(train)  # without a self-test all weights are 1
        normal = detector.explain(cases[0].normal).components
        for case in cases:
            faulty = detector.explain(case.faulty).components
            draw(case, normal, faulty)
            for view, scores in faulty.items():
                peak, clean = find_peak(case, scores), normal[view]
                rows.append(
                    f"| {case.view} | {view} | {peak:.2f} | {np.quantile(clean, 0.99):.2f} | "
                    f"{clean.max():.2f} | {share_above(case, clean, peak):.1%} |"
                )
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
