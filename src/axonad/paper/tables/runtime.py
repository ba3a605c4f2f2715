"""Time to fit and to score, the paper's and ours: as ratios to AxonAD, since machines differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_runtime
from axonad.paper.tables.scores import OURS
from axonad.report.costs import explain, runtimes
from axonad.report.figures import check_format, load_pyplot, save_figure
from axonad.report.grid import check_rows, describe
from axonad.report.plots import BLUE, ORANGE
from axonad.report.table import Column, Line, Table
from axonad.report.tables import DETECTOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Times(NamedTuple):
    """Seconds to fit and to score a stream, milliseconds per window scored."""

    fit: float
    score: float
    milliseconds: float

    @property
    def total(self) -> float:
        """Seconds from end to end."""
        return self.fit + self.score

    def to(self, other: Times) -> Times:
        """Return the ratios to another's times; NaN where it took none."""
        pairs = zip(self, other, strict=True)
        return Times(*(a / b if b else math.nan for a, b in pairs))


def our_times(rows: Iterable[Row]) -> dict[str, Times]:
    """Return the times of every detector that finished, the paper's five first."""
    kept = check_rows(rows)
    if len({row.protocol for row in kept}) > 1:
        raise InputError("times are of one protocol; choose parity or causal (--protocol)")
    found = {
        name: Times(time.fit.mean, time.score.mean, time.milliseconds)
        for name, time in runtimes(kept).items()
        if time.fit.series
    }
    if OURS not in found:
        raise InputError(f"times are shown as ratios to {OURS}, which has no row that is ok")
    order = [name for name in dict.fromkeys([*paper_runtime(), *found]) if name in found]
    return {name: found[name] for name in order}


def paper_times() -> dict[str, Times]:
    """Return the paper's times."""
    return {
        name: Times(time.fit_seconds, time.score_seconds, time.milliseconds)
        for name, time in paper_runtime().items()
    }


def paper_runtime_table(rows: Iterable[Row]) -> Table:
    """Return the times of every detector, the paper's line above ours."""
    kept = check_rows(rows)
    ours, theirs = our_times(kept), paper_times()
    lines: list[Line] = []
    for name in dict.fromkeys([*theirs, *ours]):
        for figures, found in (("paper", theirs), ("ours", ours)):
            if name in found:
                time, base = found[name], found[OURS]
                ratios = (time.to(base).fit, time.total / base.total, time.to(base).milliseconds)
                lines.append((name, figures, *time, *ratios))
    return Table(
        title="Runtime, the paper's and ours",
        columns=(
            DETECTOR, Column(heading="figures", style="text"),
            Column(heading="fit s", digits=2), Column(heading="score s", digits=2),
            Column(heading="ms per window", digits=4),
            *(Column(heading=f"{what} / {OURS}") for what in ("fit", "fit + score", "ms")),
        ),
        rows=tuple(lines),
        notes=(
            describe(kept),
            "The paper: 80,000 windows on an Apple M3 Max; all of IForest's time counts as "
            "scoring. Ours: fitted on the first half (with the scores of the training rows, which "
            "give the threshold), the second half scored. A first fit includes loading libraries.",
            *explain(kept),
        ),
    )  # fmt: skip


def draw_paper_runtime(path: Path, rows: Iterable[Row]) -> None:
    """Draw our seconds and milliseconds per window, and ratios to AxonAD beside the paper's."""
    check_format(path)
    kept = check_rows(rows)
    ours, theirs = our_times(kept), paper_times()
    names = list(ours)
    plt = load_pyplot()
    figure, axes = plt.subplots(
        1, 3, sharey=True, figsize=(11, 1.9 + 0.36 * len(names)), layout="constrained"
    )
    y = np.arange(len(names))
    fit, score = (np.array([getattr(t, f) for t in ours.values()]) for f in ("fit", "score"))
    axes[0].barh(y, fit, color=BLUE, height=0.6, label="fit")
    axes[0].barh(y, score, left=fit, color=ORANGE, height=0.6, label="score all windows")
    axes[0].set_xlabel("end to end time (s)", fontsize=9)
    axes[1].barh(y, [t.milliseconds for t in ours.values()], color=ORANGE, height=0.6)
    axes[1].set_xlabel("scoring latency (ms per window)", fontsize=9)
    axes[1].locator_params(axis="x", nbins=5)
    _write_values(axes[0], fit + score, "{:.1f}")
    _write_values(axes[1], np.array([t.milliseconds for t in ours.values()]), "{:.4f}")
    for color, found, face in ((BLUE, ours, BLUE), ("black", theirs, "none")):
        _draw_ratios(axes[2], names, found, color, face)
    axes[0].set_yticks(y, names, fontsize=8)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    figure.legend(loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    figure.suptitle(f"Runtime. {describe(kept)}\n{' '.join(explain(kept)[1:])}", fontsize=9)
    save_figure(figure, path)


def _draw_ratios(
    axis: Axes, names: list[str], found: dict[str, Times], color: str, face: str
) -> None:
    """Draw total time (circle) and latency (diamond) as multiples of AxonAD's."""
    known = [(y, found[name]) for y, name in enumerate(names) if name in found]
    who = "paper" if face == "none" else "ours"
    base = found[OURS]
    for what, marker, shift in (("total", "o", -0.13), ("milliseconds", "D", 0.13)):
        said = "end to end" if what == "total" else "latency"
        axis.plot(
            [getattr(time, what) / getattr(base, what) for _, time in known],
            [y + shift for y, _ in known],
            marker, color=color, markerfacecolor=face, markersize=6, label=f"{said}, {who}",
        )  # fmt: skip
    axis.axvline(1, color="#999999", linewidth=0.8, linestyle="--")
    axis.set_xscale("log")
    axis.set_xlabel(f"time / {OURS}'s", fontsize=9)


def _write_values(axis: Axes, values: np.typing.NDArray[np.float64], form: str) -> None:
    for place, value in enumerate(values.tolist()):
        axis.text(value, place, f" {form.format(value)}", va="center", fontsize=7)
    axis.set_xlim(0, 1.2 * float(values.max()))
