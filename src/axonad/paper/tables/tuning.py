"""The authors' grid of settings: ranks, what each parameter does, how stable the choice is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from axonad.bench.row import Row
from axonad.paper.tuning import (
    METRIC,
    METRICS,
    RESAMPLES,
    TUNED,
    Tuning,
    effects,
    explained,
    interval,
    leave_one_out,
    name_parameter,
    name_setting,
    ranks,
    read_tuning,
)
from axonad.report.results_grid import describe
from axonad.report.table import Cell, Column, Line, Table

TOP = 10  # settings in the short table
NAMED = 5  # most frequent choices named in a note
RESAMPLED = f"95 % intervals: percentiles over {RESAMPLES:,} draws of the series."


def tuning_table(rows: Iterable[Row]) -> Table:
    """Return the best ten settings, the published one and the worst."""
    rows = list(rows)
    tuning = read_tuning(rows)
    count = len(tuning.settings)
    shown = sorted({*range(min(TOP, count)), count - 1, tuning.published or 0})
    return _settings_table(
        tuning, shown, title="Tuning: the best settings, the published one and the worst",
        notes=(
            describe(rows), *_published_notes(tuning), _best_note(tuning), _spread_note(tuning),
            "The best setting is chosen on the series it is judged on, which intervals and "
            "differences to it do not allow for; the table of choices leaves series out.",
            RESAMPLED, *_gap_notes(tuning),
        ),
    )  # fmt: skip


def settings_table(rows: Iterable[Row]) -> Table:
    """Return all settings, the best first."""
    rows = list(rows)
    tuning = read_tuning(rows)
    return _settings_table(
        tuning, range(len(tuning.settings)), title="Tuning: all settings",
        notes=(describe(rows), RESAMPLED, *_gap_notes(tuning)),
    )  # fmt: skip


def effects_table(rows: Iterable[Row]) -> Table:
    """Return what every value of every parameter does to the mean, averaged over the rest."""
    rows = list(rows)
    tuning = read_tuning(rows)
    lines: list[Line] = []
    for parameter, found in effects(tuning).items():
        means = [effect.mean for effect in found]
        whole = max(means) - min(means), 100 * explained(tuning, parameter)
        for effect in found:
            lines.append(
                (
                    name_parameter(parameter), f"{effect.value:g}", effect.settings, effect.mean,
                    effect.to_published, Cell(extra=(effect.low, effect.high)), 100 * effect.best,
                    *(whole if effect is found[0] else (None, None)),
                )
            )  # fmt: skip
    return Table(
        title=f"Tuning: mean {METRIC} of all settings with a value",
        columns=(
            Column(heading="parameter", style="text"), Column(heading="value", style="text"),
            Column(heading="settings", style="count"), Column(heading=METRIC),
            Column(heading="to the published value", style="signed"),
            Column(heading="95 %", style="interval"),
            Column(heading="best in %", style="count"), Column(heading="range"),
            Column(heading="explains %", style="count"),
        ),
        rows=tuple(lines),
        notes=(
            describe(rows),
            "Best in: share of the other parameters' combinations in which the value is the best. "
            "Range: largest minus smallest mean of the parameter's values. Explains: share of the "
            "variance between settings.",
            RESAMPLED, *_gap_notes(tuning),
        ),
    )  # fmt: skip


def choices_table(rows: Iterable[Row]) -> Table:
    """Return which setting is chosen without each series, and what it gives on that series."""
    rows = list(rows)
    tuning = read_tuning(rows)
    found = leave_one_out(tuning)
    lines: list[Line] = [
        (one.series, name_setting(tuning.settings[one.chosen]), one.chosen + 1, one.on_series,
         one.published, one.average)
        for one in found
    ]  # fmt: skip
    parts = ("on_series", "published", "average")
    mean = [float(np.mean([getattr(one, name) for one in found])) for name in parts]
    lines.append(("mean", "", None, *mean))
    return Table(
        title=f"Tuning: the setting with the best mean {METRIC} of all other series",
        columns=(
            Column(heading="series left out", style="text"),
            Column(heading="chosen without it", style="text"),
            Column(heading="rank on all series", style="count"),
            Column(heading=f"{METRIC} on it"), Column(heading="published setting"),
            Column(heading="mean of all settings"),
        ),
        rows=tuple(lines),
        notes=(
            describe(rows), _frequency_note(tuning),
            "The last line compares choosing by tuning with the published setting and with a "
            "setting drawn at random.",
            *_gap_notes(tuning),
        ),
    )  # fmt: skip


def _settings_table(
    tuning: Tuning, shown: Sequence[int], *, title: str, notes: tuple[str, ...]
) -> Table:
    resampled, means = tuning.resampled(), {metric: tuning.means(metric) for metric in METRICS}
    chosen = np.bincount(resampled.argmax(0), minlength=len(tuning.settings)) / RESAMPLES
    several = len(tuning.series) > 1
    lines: list[Line] = []
    for index in shown:
        bounds = interval(resampled[index] - resampled[0]) if several and index else ()
        behind = means[METRIC][index] - means[METRIC][0]
        lines.append(
            (
                int(ranks(means[METRIC][:, None], index)[0]),
                _what(tuning, index), *tuning.settings[index],
                *(float(means[metric][index]) for metric in METRICS),
                float(behind) if index else None, Cell(float(behind), bounds),
                100 * float(chosen[index]) if several else None,
            )
        )  # fmt: skip
    settings = [
        Column(heading=symbol, digits=4) if name == "lr" else Column(heading=symbol, style="count")
        for name, symbol in TUNED.items()
    ]
    return Table(
        title=f"{title}; {len(tuning.settings)} settings, mean over {len(tuning.series)} series",
        columns=(
            Column(heading="rank", style="count"), Column(heading="setting", style="text"),
            *settings, *(Column(heading=metric, best="max") for metric in METRICS),
            Column(heading="to the best", style="signed"), Column(heading="95 %", style="interval"),
            Column(heading="chosen in %", digits=1),
        ),
        rows=tuple(lines),
        notes=(*notes, "Chosen in: share of the draws in which the setting is the best."),
    )  # fmt: skip


def _what(tuning: Tuning, index: int) -> str:
    """Return what a setting is: the best, the worst, the published one, or nothing of these."""
    about = {0: "best", len(tuning.settings) - 1: "worst"}
    named = [about.get(index, ""), "published" if index == tuning.published else ""]
    return ", ".join(name for name in named if name)


def _published_notes(tuning: Tuning) -> list[str]:
    index, count = tuning.published, len(tuning.settings)
    if index is None:
        return ["The published setting has no results on all series."]
    rank = int(ranks(tuning.means()[:, None], index)[0])
    drawn = ranks(tuning.resampled(), index)
    low, high = np.percentile(drawn, (2.5, 97.5))
    behind = tuning.means()[0] - tuning.means()[index]
    return [
        f"The published setting ({name_setting(tuning.settings[index])}) has rank {rank} of "
        f"{count}, {behind:.3f} below the best. With series drawn anew its rank has median "
        f"{np.median(drawn):.0f} and lies between {low:.0f} and {high:.0f} in 95 % of the draws."
    ]


def _best_note(tuning: Tuning) -> str:
    by_setting: dict[int, list[str]] = {}
    for metric in METRICS:
        by_setting.setdefault(tuning.best(metric), []).append(metric)
    named = [
        f"{', '.join(metrics)}: {name_setting(tuning.settings[index])}"
        for index, metrics in by_setting.items()
    ]
    return f"Best by {'; '.join(named)}."


def _spread_note(tuning: Tuning) -> str:
    means, values = tuning.means(), tuning.values[METRIC]
    over = values.mean(0).std(ddof=1) if len(tuning.series) > 1 else math.nan
    return (
        f"{METRIC} of the settings: {means.min():.3f} to {means.max():.3f}, median "
        f"{np.median(means):.3f}, standard deviation {means.std(ddof=1):.3f}; the standard "
        f"deviation over series is {over:.3f}."
    )


def _frequency_note(tuning: Tuning) -> str:
    drawn = Counter(tuning.resampled().argmax(0).tolist())
    first = [
        f"{name_setting(tuning.settings[index])} ({100 * count / RESAMPLES:.1f} %)"
        for index, count in sorted(drawn.items(), key=lambda item: (-item[1], item[0]))[:NAMED]
    ]
    return (
        f"With series drawn anew, {len(drawn)} of {len(tuning.settings)} settings are the best at "
        f"least once, most often {'; '.join(first)}."
    )


def _gap_notes(tuning: Tuning) -> list[str]:
    if not tuning.left_out:
        return []
    return [f"{tuning.left_out} settings lack a series and are left out."]
