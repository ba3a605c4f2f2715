"""Tables of the diagnostics: the paper's numbers beside ours, rules of combination, every series.

Seeds of a series are averaged first, so that a series counts once. Intervals of what is said over
series come from drawing series anew; those of a single series from drawing blocks of its windows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import HIGH, JUDGED
from axonad.paper.diagnostics.rules import ALONE, OURS, PAPER, RULES
from axonad.paper.figures.panel import Array, Panel, Statistic, gather, interval, mean
from axonad.paper.published import PAPER_SERIES, paper_diagnostics
from axonad.report.table import Cell, Column, Line, Table

Question = tuple[str, Array, Statistic, str]  # what, of the series, over them, name in the paper
HALF = 0.5
CLEAR = 0.01  # a sum whose one part says nothing beats the other by less, now and then
HEAVY = 3.0  # times: a tail this much longer than the other's leaves it little say
SPAN = Column(heading="95 % interval", style="interval")
SERIES = Column(heading="series", style="count")


def diagnostics_table(findings: Iterable[Finding]) -> Table:
    """Return the paper's numbers, each beside ours; then what only we ask."""
    panel = gather(findings)
    lines = [_answer(*question) for question in (*_asked(panel), *_asked_by_us(panel))]
    return Table(
        title="Mechanistic diagnostics of AxonAD, the paper's and ours",
        columns=(
            Column(heading="quantity", style="text"), Column(heading="paper"),
            Column(heading="here"), SPAN, SERIES,
        ),
        rows=tuple(lines),
        notes=(
            panel.setting,
            f"The paper's are of {PAPER_SERIES} tuning series; it counts 15 and 8 of them. "
            "Intervals: series drawn anew. Lines that begin with 'ours' are not the paper's.",
            "Query deviation: length of predicted minus target query; tail KL: from the attention "
            "of target queries to that of predicted ones, keys up to a horizon back; both averaged "
            "over heads and the tail. Nothing trains the length of predicted queries; at equal "
            "length: each given that of its target.",
            f"High: above the {HIGH:.0%} quantile of the training windows; an anomalous window "
            "holds a labelled step. The paper names neither rule.",
        ),
    )  # fmt: skip


def _asked(panel: Panel) -> list[Question]:
    """Return what the paper gives numbers for."""
    turned, entropy = panel["kl spearman"], panel["entropy"]
    gain = panel["AUC-PR sum"] - panel.better_part("AUC-PR")
    return [
        ("Spearman of query deviation and tail KL, median", turned, np.median,
         "kl spearman median"),
        ("the same at least 0.5, share of series", panel.above(turned, HALF - 1e-9), np.mean,
         "kl spearman at least half"),
        ("tail attention entropy (nats), lowest series", entropy, np.min, "entropy lowest"),
        ("tail attention entropy (nats), highest series", entropy, np.max, "entropy highest"),
        ("Spearman of d_rec and d_q, median", panel["parts spearman"], np.median,
         "parts correlation median"),
        ("anomalous windows with high d_q, low d_rec, mean share", panel["query only"], np.mean,
         "query only"),
        ("anomalous windows with high d_rec, low d_q, mean share", panel["reconstruction only"],
         np.mean, "reconstruction only"),
        ("sum beats the better part in AUC-PR, share of series", panel.above(gain, 0), np.mean,
         "sum beats better part"),
    ]  # fmt: skip


def _asked_by_us(panel: Panel) -> list[Question]:
    """Return what the paper does not say: how, by how much, and whose tail is heavier."""
    both = np.minimum(panel["query only"], panel["reconstruction only"])
    gain = panel["VUS-PR sum"] - panel.better_part("VUS-PR")
    ratio = panel["tail ratio"]
    asked: list[tuple[str, Array, Statistic]] = [
        ("entropy of attention that looks everywhere", panel["entropy widest"], np.median),
        ("length of predicted queries over that of target queries, median", panel["length"],
         np.median),
        ("Spearman of d_q and tail KL, median", panel["kl spearman d_q"], np.median),
        ("Spearman of d_q and tail KL at equal length, median", panel["turn spearman d_q"],
         np.median),
        ("Pearson of rz(d_rec) and rz(d_q), median", panel["parts pearson"], np.median),
        ("anomalous windows with both high, mean share", panel["both high"], np.mean),
        ("windows placed on an anomaly, high d_q, low d_rec", panel["query only placed"], np.mean),
        ("windows placed on an anomaly, high d_rec, low d_q", panel["reconstruction only placed"],
         np.mean),
        ("high by the windows scored: high d_q, low d_rec", panel["query only ranked"], np.mean),
        ("high by the windows scored: high d_rec, low d_q", panel["reconstruction only ranked"],
         np.mean),
        ("both regimes occur, share of series", panel.above(both, 0), np.mean),
        ("sum beats the better part in VUS-PR, share of series", panel.above(gain, 0), np.mean),
        *(
            (f"sum beats the better part in {metric} by more than {CLEAR}, share of series",
             panel.above(panel[f"{metric} sum"] - panel.better_part(metric), CLEAR), np.mean)
            for metric in JUDGED
        ),
        ("VUS-PR of the sum minus that of the better part, mean", gain, np.mean),
        ("99 % quantile of rz(d_rec) over that of rz(d_q), median", ratio, np.median),
        (f"that ratio above {HEAVY:g}, share of series", panel.above(ratio, HEAVY), np.mean),
        (f"that ratio below 1/{HEAVY:g}, share of series", panel.above(-ratio, -1 / HEAVY),
         np.mean),
        ("share of d_rec in the highest 1 % of sums, median", panel["top share d_rec"], np.median),
        ("Spearman of sum and d_rec, median", panel["sum spearman d_rec"], np.median),
        ("Spearman of sum and d_q, median", panel["sum spearman d_q"], np.median),
    ]  # fmt: skip
    return [(f"ours: {text}", values, statistic, "") for text, values, statistic in asked]


def _answer(text: str, values: Array, statistic: Statistic, paper: str) -> Line:
    there = values[np.isfinite(values)]
    found = float(statistic(there)) if there.size else math.nan
    extreme = statistic in (np.min, np.max)  # drawing anew says nothing of what lies further out
    bounds = Cell() if extreme else Cell(None, interval(values, statistic))
    return text, paper_diagnostics().get(paper), found, bounds, there.size


def rules_table(findings: Iterable[Finding]) -> Table:
    """Return how each part, the paper's sum and other rules rank, against the sum."""
    panel = gather(findings)
    lines: list[Line] = []
    for rule in RULES:
        gain = panel[f"VUS-PR {rule}"] - panel["VUS-PR sum"]
        over = panel[f"VUS-PR {rule}"] - panel.better_part("VUS-PR")
        whose = "part" if rule in ALONE else "paper" if rule in PAPER else "ours"
        lines.append(
            (
                rule, whose, mean(panel[f"AUC-PR {rule}"]), mean(panel[f"VUS-PR {rule}"]),
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
            panel.setting,
            f"{', '.join(OURS)} are ours, not the paper's. log: sign(z) log(1 + |z|) of each part; "
            "clipped: at ten robust units; ranks: among the windows scored; placed: d_q at the "
            "middle of the window's tail, which is where it looks, instead of the window's centre.",
        ),
    )  # fmt: skip


def series_table(findings: Iterable[Finding]) -> Table:
    """Return a line per series, with the intervals of its own blocks."""
    panel = gather(findings)
    estimates = {
        "kl spearman": "deviation and KL", "parts spearman": "d_rec and d_q",
        "query only": "d_q alone high", "reconstruction only": "d_rec alone high",
    }  # fmt: skip
    single = {
        "entropy": "entropy", "tail ratio": "tail ratio", "VUS-PR d_rec": "VUS-PR d_rec",
        "VUS-PR d_q": "VUS-PR d_q", "VUS-PR sum": "VUS-PR sum", "VUS-PR log": "VUS-PR log (ours)",
    }  # fmt: skip
    lines: list[Line] = []
    for i, name in enumerate(panel.series):
        spans: list[Cell | float] = []
        for measure in estimates:
            bounds = float(panel[f"{measure} low"][i]), float(panel[f"{measure} high"][i])
            spans += [float(panel[measure][i]), Cell(None, bounds)]
        lines.append((name, *spans, *(float(panel[m][i]) for m in single), panel.seeds[i]))
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
            panel.setting,
            "The first two are Spearman correlations, the next two shares of anomalous windows. "
            "Intervals: blocks of windows drawn anew, each a hundredth of the series and two "
            "window lengths at least; bounds of several seeds are averaged. Tail ratio: 99 % "
            "quantile of rz(d_rec) over that of rz(d_q).",
        ),
    )  # fmt: skip
