"""Tables of the diagnostics: the paper's numbers beside ours, combination rules, every series.

The seeds of a series are averaged first, so that a series counts once. Intervals over series are
bootstrapped over series, those of a single series over blocks of its windows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import HIGH, METRICS
from axonad.paper.diagnostics.rules import ALONE, OURS, PAPER, RULES
from axonad.paper.published import PAPER_SERIES, paper_diagnostics
from axonad.paper.tables.series_measures import (
    SeriesMeasures,
    Statistic,
    exceeds,
    gather,
    interval,
    mean,
)
from axonad.report.quality import SERIES
from axonad.report.results_grid import FloatArray
from axonad.report.table import Cell, Column, Line, Table

# Text, values by series, statistic over series, and the number's name in the paper ("" if none).
Question = tuple[str, FloatArray, Statistic, str]
HALF = 0.5
CLEAR = 0.01  # adding an uninformative part can gain less than this by chance
HEAVY = 3.0  # ratio of tails above which the heavier part dominates the sum
SPAN = Column(heading="95 % interval", style="interval")


def diagnostics_table(findings: Iterable[Finding]) -> Table:
    """Return the paper's numbers, each beside ours, followed by numbers of ours alone."""
    found = gather(findings)
    lines = [
        (text, paper_diagnostics().get(paper), *answer(values, statistic))
        for text, values, statistic, paper in (*asked_by_paper(found), *_asked_by_us(found))
    ]
    return Table(
        title="Mechanistic diagnostics of AxonAD, the paper's and ours",
        columns=(
            Column(heading="quantity", style="text"), Column(heading="paper"),
            Column(heading="here"), SPAN, SERIES,
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            f"The paper's are of {PAPER_SERIES} tuning series; it counts 15 and 8 of them. "
            "Intervals: series drawn anew. Lines that begin with 'ours' are not the paper's.",
            "Query deviation: length of predicted minus target query; tail KL: from the attention "
            "of target queries to that of predicted ones, keys up to a horizon back; both averaged "
            "over heads and the tail. Nothing trains the length of predicted queries; at equal "
            "length: each given that of its target.",
            f"High: above the {HIGH:.0%} quantile of the training windows; an anomalous window "
            "holds a labelled step. The paper names neither rule, its script does (--as-run).",
        ),
    )  # fmt: skip


def asked_by_paper(found: SeriesMeasures) -> list[Question]:
    """Return the quantities that the paper has numbers for."""
    turned, entropy = found["kl spearman"], found["entropy"]
    gain = found["AUC-PR sum"] - found.better_part("AUC-PR")
    return [
        ("Spearman of query deviation and tail KL, median", turned, np.median,
         "kl spearman median"),
        ("the same at least 0.5, share of series", exceeds(turned, HALF - 1e-9), np.mean,
         "kl spearman at least half"),
        ("tail attention entropy (nats), lowest series", entropy, np.min, "entropy lowest"),
        ("tail attention entropy (nats), highest series", entropy, np.max, "entropy highest"),
        ("Spearman of d_rec and d_q, median", found["parts spearman"], np.median,
         "parts correlation median"),
        ("anomalous windows with high d_q, low d_rec, mean share", found["query only"], np.mean,
         "query only"),
        ("anomalous windows with high d_rec, low d_q, mean share", found["reconstruction only"],
         np.mean, "reconstruction only"),
        ("sum beats the better part in AUC-PR, share of series", exceeds(gain, 0), np.mean,
         "sum beats better part"),
    ]  # fmt: skip


def _asked_by_us(found: SeriesMeasures) -> list[Question]:
    """Return the quantities that the paper has no numbers for."""
    both = np.minimum(found["query only"], found["reconstruction only"])
    gain = found["VUS-PR sum"] - found.better_part("VUS-PR")
    ratio = found["tail ratio"]
    asked: list[tuple[str, FloatArray, Statistic]] = [
        ("entropy of attention that looks everywhere", found["entropy widest"], np.median),
        ("length of predicted queries over that of target queries, median", found["length"],
         np.median),
        ("Spearman of d_q and tail KL, median", found["kl spearman d_q"], np.median),
        ("Spearman of d_q and tail KL at equal length, median", found["turn spearman d_q"],
         np.median),
        ("Pearson of rz(d_rec) and rz(d_q), median", found["parts pearson"], np.median),
        ("anomalous windows with both high, mean share", found["both high"], np.mean),
        ("windows placed on an anomaly, high d_q, low d_rec", found["query only placed"], np.mean),
        ("windows placed on an anomaly, high d_rec, low d_q", found["reconstruction only placed"],
         np.mean),
        ("high by the windows scored: high d_q, low d_rec", found["query only ranked"], np.mean),
        ("high by the windows scored: high d_rec, low d_q", found["reconstruction only ranked"],
         np.mean),
        ("both regimes occur, share of series", exceeds(both, 0), np.mean),
        ("sum beats the better part in VUS-PR, share of series", exceeds(gain, 0), np.mean),
        *(
            (f"sum beats the better part in {metric} by more than {CLEAR}, share of series",
             exceeds(found[f"{metric} sum"] - found.better_part(metric), CLEAR), np.mean)
            for metric in METRICS
        ),
        ("VUS-PR of the sum minus that of the better part, mean", gain, np.mean),
        ("99 % quantile of rz(d_rec) over that of rz(d_q), median", ratio, np.median),
        (f"that ratio above {HEAVY:g}, share of series", exceeds(ratio, HEAVY), np.mean),
        (f"that ratio below 1/{HEAVY:g}, share of series", exceeds(-ratio, -1 / HEAVY),
         np.mean),
        ("share of d_rec in the highest 1 % of sums, median", found["top share d_rec"], np.median),
        ("Spearman of sum and d_rec, median", found["sum spearman d_rec"], np.median),
        ("Spearman of sum and d_q, median", found["sum spearman d_q"], np.median),
    ]  # fmt: skip
    return [(f"ours: {text}", values, statistic, "") for text, values, statistic in asked]


def answer(values: FloatArray, statistic: Statistic) -> tuple[float, Cell, int]:
    """Return a statistic over series, its interval, and the number of series."""
    finite = values[np.isfinite(values)]
    found = float(statistic(finite)) if finite.size else math.nan
    extreme = statistic in (np.min, np.max)  # a bootstrap never draws beyond the extremes
    bounds = Cell() if extreme else Cell(None, interval(values, statistic))
    return found, bounds, finite.size


def rules_table(findings: Iterable[Finding]) -> Table:
    """Return the quality of each part, of the paper's sum and of other rules to combine them."""
    found = gather(findings)
    lines: list[Line] = []
    for rule in RULES:
        gain = found[f"VUS-PR {rule}"] - found["VUS-PR sum"]
        over = found[f"VUS-PR {rule}"] - found.better_part("VUS-PR")
        whose = "part" if rule in ALONE else "paper" if rule in PAPER else "ours"
        lines.append(
            (
                rule, whose, mean(found[f"AUC-PR {rule}"]), mean(found[f"VUS-PR {rule}"]),
                mean(gain), Cell(None, interval(gain, np.mean)), int((gain > 0).sum()),
                int((over > 0).sum()), int(np.isfinite(gain).sum()),
            )
        )  # fmt: skip
    return Table(
        title="One score from two parts: means over series",
        columns=(
            Column(heading="rule", style="text"), Column(heading="whose", style="text"),
            Column(heading="AUC-PR", best="max"), Column(heading="VUS-PR", best="max"),
            Column(heading="VUS-PR to sum", style="signed"), SPAN,
            Column(heading="beats sum", style="count"),
            Column(heading="beats both parts", style="count"), SERIES,
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            f"{', '.join(OURS)} are ours, not the paper's. log: sign(z) log(1 + |z|) of each part; "
            "clipped: at ten robust units; ranks: among the windows scored; placed: d_q at the "
            "middle of the window's tail, which is where it looks, instead of the window's centre.",
        ),
    )  # fmt: skip


def series_table(findings: Iterable[Finding]) -> Table:
    """Return one line per series, with intervals from a block bootstrap over its windows."""
    found = gather(findings)
    estimates = {
        "kl spearman": "deviation and KL", "parts spearman": "d_rec and d_q",
        "query only": "d_q alone high", "reconstruction only": "d_rec alone high",
    }  # fmt: skip
    single = {
        "entropy": "entropy", "tail ratio": "tail ratio", "VUS-PR d_rec": "VUS-PR d_rec",
        "VUS-PR d_q": "VUS-PR d_q", "VUS-PR sum": "VUS-PR sum", "VUS-PR log": "VUS-PR log (ours)",
    }  # fmt: skip
    lines: list[Line] = []
    for i, name in enumerate(found.series):
        spans: list[Cell | float] = []
        for measure in estimates:
            bounds = float(found[f"{measure} low"][i]), float(found[f"{measure} high"][i])
            spans += [float(found[measure][i]), Cell(None, bounds)]
        lines.append((name, *spans, *(float(found[m][i]) for m in single), found.seeds[i]))
    columns: list[Column] = []
    for heading in estimates.values():
        columns += [
            Column(heading=heading, digits=2),
            Column(heading=f"{heading}, 95 %", style="interval", digits=2),
        ]
    return Table(
        title="Diagnostics of every series",
        columns=(
            Column(heading="series", style="text"), *columns,
            *(Column(heading=heading, digits=2) for heading in single.values()),
            Column(heading="seeds", style="count"),
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            "The first two are Spearman correlations, the next two shares of anomalous windows. "
            "Intervals: blocks of windows drawn anew, each a hundredth of the series and two "
            "window lengths at least; bounds of several seeds are averaged. Tail ratio: 99 % "
            "quantile of rz(d_rec) over that of rz(d_q).",
        ),
    )  # fmt: skip
