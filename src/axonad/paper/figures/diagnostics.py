"""Figures of the diagnostics: both score parts of windows, queries around an event, rules.

rz(x) is the robust z-score of x: distance to the training median in interquartile ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.rules import ALONE, PAPER, RULES
from axonad.paper.tables.series_measures import gather, interval
from axonad.report.drawing import BLUE, GRAY, GREEN, ORANGE, RED, new_figure, save_figure, trim_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sample = Mapping[str, Any]
COORDINATION = "correlation_break"
MOST = 20  # series in one figure
LINEAR = 2.0  # robust units around 0 with a linear scale; logarithmic beyond
CROWDED = 1e4  # on an axis with a larger range only the decades are labelled
PHASES = (("before", GRAY), ("during", RED), ("after", BLUE))


def draw_parts(path: Path, *, samples: Mapping[str, Sample]) -> None:
    """Draw rz(d_rec) against rz(d_q) of sampled windows, a panel per series (Figure 3).

    Dotted lines are the thresholds of the single parts, the dashed line is that of the sum.
    """
    if not samples:
        raise InputError("samples.jsonl has no windows of these series")
    ordered = sorted(samples.values(), key=lambda s: (s["dataset"], s["series"]))
    places = np.linspace(0, len(ordered) - 1, min(MOST, len(ordered))).round().astype(int)
    shown = [ordered[place] for place in places]  # spread evenly over the data sets
    columns = min(5, len(shown))
    lines = -(-len(shown) // columns)
    figure, axes = new_figure(
        path, lines, columns, squeeze=False, figsize=(2.9 * columns + 0.6, 2.8 * lines + 0.8),
    )  # fmt: skip
    seen: dict[str, Any] = {}
    for axis, sample in zip(axes.flat, shown, strict=False):
        seen |= _scatter(axis, sample)
    for axis in axes.flat[len(shown) :]:
        axis.set_visible(False)
    some = f"   ({len(shown)} of {len(ordered)} series)" if len(shown) < len(ordered) else ""
    figure.supxlabel(f"rz(d_rec){some}", fontsize=9)
    figure.supylabel("rz(d_q)", fontsize=9)
    figure.legend(
        list(seen.values()), list(seen), loc="outside upper center", ncols=min(6, 2 * columns - 1),
        fontsize=8, frameon=False, markerscale=2,
    )  # fmt: skip
    save_figure(figure, path)


def _scatter(axis: Axes, sample: Sample) -> dict[str, Any]:
    """Draw one series; return label → artist for the legend."""
    limits = sample["thresholds"]
    seen: dict[str, Any] = {}
    clouds = [("normal", GREEN, sample["normal"]["d_rec"], sample["normal"]["d_q"])]
    found = sample["anomalous"]
    rec, q = np.array(found["d_rec"]), np.array(found["d_q"])
    kinds = np.array(found.get("kind", [""] * len(rec)))
    for name, color, mask in (
        ("anomalous", ORANGE, kinds == ""),
        ("anomalous, other faults", ORANGE, (kinds != "") & (kinds != COORDINATION)),
        ("anomalous, coordination", RED, kinds == COORDINATION),
    ):
        clouds.append((name, color, rec[mask], q[mask]))
    for name, color, x, y in clouds:
        if len(x):
            seen[name] = axis.scatter(x, y, s=4, color=color, alpha=0.5, linewidths=0)
    dotted: dict[str, Any] = {"color": "#555555", "linestyle": ":", "linewidth": 1.0}
    seen["one part at its threshold"] = axis.axvline(limits["d_rec"], **dotted)
    axis.axhline(limits["d_q"], **dotted)
    _compress(axis, "x")
    _compress(axis, "y")
    bounds = axis.get_xlim(), axis.get_ylim()
    low, high = np.arcsinh(bounds[0])
    line = np.sinh(np.linspace(low, high, 500))
    seen["sum at its threshold"] = axis.plot(
        line, limits["sum"] - line, color="black", linestyle="--", linewidth=0.9
    )[0]
    axis.set_xlim(bounds[0])
    axis.set_ylim(bounds[1])
    _tidy(axis)
    axis.set_title(_short(sample["series"]), fontsize=8)
    return seen


def draw_queries(path: Path, *, samples: Mapping[str, Sample], findings: Iterable[Finding]) -> None:
    """Draw predicted and actual queries before, during and after one event, and both parts.

    The event is from the series with the highest VUS-PR of d_q alone, where the idea works best.
    """
    quality = {f.key: f.measures.get("VUS-PR d_q", math.nan) for f in findings}
    usable = [key for key in samples if "event" in samples[key] and key in quality]
    if not usable:
        raise InputError("no sampled series has an event after its first window")
    chosen = samples[max(usable, key=lambda key: (quality[key], key))]
    event = chosen["event"]
    figure, (plane, time) = new_figure(path, 1, 2, figsize=(10.5, 4.4), width_ratios=(1, 1.25))
    steps = event["first"] + np.arange(len(event["d_q"]))
    phase = np.where(steps < event["start"], 0, np.where(steps < event["stop"], 1, 2))
    target, predicted = np.array(event["target"]), np.array(event["predicted"])
    for number, (name, color) in enumerate(PHASES):
        there = np.flatnonzero(phase == number)
        if not there.size:
            continue
        joined = np.r_[there[:1] - 1, there] if there[0] else there  # connect to the last phase
        plane.plot(*target[joined].T, color=color, linewidth=1.0)
        plane.plot(*target[there].T, "o", color=color, markersize=3, label=f"actual, {name}")
        plane.plot(
            *predicted[there].T, "x", color=color, markersize=4, label=f"predicted, {name}",
            alpha=0.8,
        )  # fmt: skip
    plane.set_xlabel(f"main axes of the actual directions ({event['explained']:.0%})", fontsize=9)
    plane.legend(fontsize=7, frameon=False, loc="best")
    for name, color in (("d_rec", ORANGE), ("d_q", BLUE)):
        time.plot(steps, event[name], color=color, linewidth=1.2, label=f"rz({name})")
        time.axhline(chosen["thresholds"][name], color=color, linestyle=":", linewidth=0.9)
    _compress(time, "y")
    time.axvspan(event["start"], min(event["stop"], steps[-1]), color=RED, alpha=0.12, linewidth=0)
    time.set_xlabel("last step of the window", fontsize=9)
    time.set_ylabel("robust units; dotted: its threshold", fontsize=9)
    time.legend(fontsize=8, frameon=False)
    for axis in (plane, time):
        _tidy(axis)
    kind = f", {event['kind'].replace('_', ' ')}" if event["kind"] else ""
    figure.suptitle(
        f"{_short(chosen['series'])}: event at step {event['start']}{kind}; "
        "directions of the queries of each window's last step",
        fontsize=9,
    )
    save_figure(figure, path)


def draw_rules(path: Path, *, findings: Iterable[Finding]) -> None:
    """Draw the gain of the sum against the ratio of tails, and the mean quality of every rule."""
    found = gather(findings)
    figure, (tails, means) = new_figure(path, 1, 2, figsize=(11, 4.2))
    for rule, color, marker in (("sum", BLUE, "o"), ("log", ORANGE, "^")):
        gain = found[f"VUS-PR {rule}"] - found.better_part("VUS-PR")
        tails.plot(
            found["tail ratio"], gain, marker, color=color, markersize=5, alpha=0.7,
            label=_rule_label(rule),
        )  # fmt: skip
    tails.axhline(0, color="black", linewidth=0.7)
    tails.axvline(1, color="black", linewidth=0.7, linestyle=":")
    tails.set_xscale("log")
    low, high = tails.get_xlim()
    between = "25" if high / low < CROWDED else ""
    tails.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    tails.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:e}"[0] in between else ""
    )
    tails.set_xlabel("99 % quantile of rz(d_rec) over that of rz(d_q)", fontsize=9)
    tails.set_ylabel("VUS-PR minus that of the better part", fontsize=9)
    tails.legend(fontsize=8, frameon=False)
    for place, rule in enumerate(reversed(RULES)):
        values = found[f"VUS-PR {rule}"]
        color = GRAY if rule in ALONE else BLUE if rule in PAPER else ORANGE
        low, high = interval(values, np.mean)
        mean = float(np.nanmean(values))
        if math.isfinite(low):
            means.plot([low, high], [place, place], color=color, linewidth=2.5, alpha=0.6)
        means.plot(mean, place, "o", color=color, markersize=6)
        means.annotate(
            f"{mean:.3f}", (mean, place), xytext=(0, 6), textcoords="offset points", fontsize=7,
            ha="center",
        )  # fmt: skip
    means.set_yticks(range(len(RULES)), [_rule_label(rule) for rule in reversed(RULES)])
    means.set_xlabel("VUS-PR, mean over series; bar: 95 %, series drawn anew", fontsize=9)
    for axis in (tails, means):
        _tidy(axis)
    figure.suptitle(f"{found.setting} {len(found.series)} series.", fontsize=8)
    save_figure(figure, path)


def _compress(axes: Axes, which: str) -> None:
    """Make an axis symmetric-logarithmic, linear around 0, with plain numbers as tick labels."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("symlog", linthresh=LINEAR)
    axes.autoscale_view()
    low, high = axis.get_view_interval()
    largest = max(1, math.ceil(math.log10(max(1.0, abs(low), abs(high)))))
    sizes = [10.0**power for power in range(0, largest + 1, 1 + largest // 5)]
    ticks = [-size for size in reversed(sizes)] + [0.0] + sizes
    axis.set_ticks([tick for tick in ticks if low <= tick <= high])
    axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)


def _rule_label(rule: str) -> str:
    return f"{rule} alone" if rule in ALONE else f"{rule} ({'paper' if rule in PAPER else 'ours'})"


def _short(series: str) -> str:
    """Return a name short enough for a panel title: number, data set and id of a TSB-AD file."""
    return "_".join(series.removesuffix(".csv").split("_")[:4])


def _tidy(axis: Axes) -> None:
    axis.grid(color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
    trim_axis(axis, labelsize=7)
    axis.tick_params(labelsize=7, which="minor")
