"""Tables of the diagnostics as the authors' script runs them: the paper's numbers, and the probe.

The seeds of a series are averaged first. Intervals resample the series.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np

from axonad.paper.diagnostics.as_run import OWN, PREDICTED
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.published import PAPER_SERIES, paper_diagnostics
from axonad.paper.tables.diagnostics import HALF, SPAN, Question, answer, asked_by_paper
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

TIE = 1e-9  # a sum beats a term by more than this
LABELS = {
    OWN: "queries, trained with the network (as run)",
    "queries": "queries (ours)",
    "keys": "keys",
    "values": "values",
    "hidden": "hidden state",
}


def as_run_table(findings: Iterable[Finding], ours: Iterable[Finding] = ()) -> Table:
    """Return the paper's numbers beside those of the script's rules and of ours.

    ``ours`` are findings of other fits, those of our settings; without them the column is empty.
    """
    found, others = gather(findings), list(ours)
    same = _answers(found)
    other = _answers(gather(others)) if others else {}
    lines: list[Line] = []
    for text, values, statistic, paper in _asked(found):
        value, bounds, series = answer(values, statistic)
        published = paper_diagnostics().get(paper)
        lines.append((text, published, value, bounds, same.get(paper), other.get(paper), series))
    return Table(
        title="Mechanistic diagnostics as the authors' script runs them",
        columns=(
            Column(heading="quantity", style="text"), Column(heading="paper"),
            Column(heading="as run"), SPAN, Column(heading="our rules, same fits"),
            Column(heading="ours"), SERIES,
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            f"The paper's are of {PAPER_SERIES} tuning series; it counts 15 and 8 of them. "
            "Intervals: series drawn anew.",
            "As run: settings and rules of the script. Deviation and KL are those of the network's "
            "own (online) queries and the predicted ones, by head and window; correlations and "
            "entropy are of all chosen windows (at most 6,000 of a series), training included.",
            "High and low: above and below the median of the normal training windows. Shares: all "
            "series pooled, of the test windows that hold a labelled step. Quality: average "
            "precision of test windows.",
            "Our rules: those of `axonad paper diagnostics`, on the same fits; ours: the same "
            "rules, on fits with the settings of Table 2.",
        ),
    )  # fmt: skip


def _asked(found: SeriesMeasures) -> list[Question]:
    """Return the paper's quantities by the rules of the script, and some that it leaves out."""
    turned, entropy = found["as run kl spearman"], found["as run entropy"]
    query, reconstruction = found["as run query only"], found["as run reconstruction only"]
    total = found["as run AP sum"]
    parts = found["as run AP d_rec"], found["as run AP d_q"]
    anomalous = "of anomalous test windows, pooled"

    def share(name: str) -> tuple[FloatArray, Statistic]:
        return _pooled(found[f"as run {name}"], found["as run anomalous windows"])

    return [
        ("Spearman of query deviation and KL, by head, median", turned, np.median,
         "kl spearman median"),
        ("the same at least 0.5, share of series", exceeds(turned, HALF - 1e-9), np.mean,
         "kl spearman at least half"),
        ("tail attention entropy (nats), lowest series", entropy, np.min, "entropy lowest"),
        ("tail attention entropy (nats), highest series", entropy, np.max, "entropy highest"),
        ("Pearson of d_rec and d_q, median", found["as run parts pearson"], np.median,
         "parts correlation median"),
        (f"high d_q, low d_rec: share {anomalous}", *share("query only"), "query only"),
        (f"high d_rec, low d_q: share {anomalous}", *share("reconstruction only"),
         "reconstruction only"),
        (f"both high: share {anomalous}", *share("both high"), ""),
        (f"both low: share {anomalous}", *share("both low"), ""),
        ("high d_q, low d_rec occurs, share of series", exceeds(query, 0), np.mean, ""),
        ("high d_rec, low d_q occurs, share of series", exceeds(reconstruction, 0), np.mean, ""),
        ("both regimes occur, share of series", exceeds(np.minimum(query, reconstruction), 0),
         np.mean, ""),
        ("sum beats the better part in average precision, share of series",
         exceeds(total - np.maximum(*parts), TIE), np.mean, "sum beats better part"),
        ("sum beats d_rec in average precision, share of series", exceeds(total - parts[0], TIE),
         np.mean, ""),
        ("average precision of the sum minus that of d_rec, mean", total - parts[0], np.mean, ""),
    ]  # fmt: skip


def _answers(found: SeriesMeasures) -> dict[str, float]:
    """Return the answers of our rules by the name of the paper's number."""
    questions = asked_by_paper(found)
    return {paper: answer(values, statistic)[0] for _, values, statistic, paper in questions}


def _pooled(part: FloatArray, whole: FloatArray) -> tuple[FloatArray, Statistic]:
    """Return the places of series and a statistic of places: their parts over their wholes."""
    places = np.where(np.isfinite(part) & np.isfinite(whole), np.arange(part.size), np.nan)
    return places, partial(_ratio, part, whole)


def _ratio(
    part: FloatArray, whole: FloatArray, places: FloatArray, axis: int | None = None
) -> FloatArray:
    drawn = places.astype(np.intp)
    total = whole[drawn].sum(axis=axis)
    ratio: FloatArray = part[drawn].sum(axis=axis) / np.where(total > 0, total, np.nan)
    return ratio


def probe_table(findings: Iterable[Finding]) -> Table:
    """Return how well errors of predictors of different quantities find anomalous windows."""
    found = gather(findings)
    quality = {name: found[f"probe AP {name}"] for name in PREDICTED}
    best = np.max(list(quality.values()), axis=0)
    lines: list[Line] = []
    for name, values in quality.items():
        differences: list[Cell | float] = []
        for reference in (OWN, "queries"):
            gain = values - quality[reference]
            bounds = Cell() if name == reference else Cell(None, interval(gain, np.mean))
            differences += [math.nan if name == reference else mean(gain), bounds]
        lines.append(
            (
                LABELS[name], mean(values), Cell(None, interval(values, np.mean)), *differences,
                int((values == best).sum()), mean(found[f"probe error {name} learned"]),
                mean(found[f"probe error {name} normal"]), int(np.isfinite(values).sum()),
            )
        )  # fmt: skip
    chance = mean(found["as run anomalous windows"] / found["as run test windows"])
    reconstruction = mean(found["as run AP d_rec"])
    return Table(
        title="Predicting queries, keys, values or the hidden state of a trained network",
        columns=(
            Column(heading="predicted", style="text"),
            Column(heading="average precision", best="max"), SPAN,
            Column(heading="to queries (as run)", style="signed"),
            Column(heading="its 95 % interval", style="interval"),
            Column(heading="to queries (ours)", style="signed"),
            Column(heading="that 95 % interval", style="interval"),
            Column(heading="best in", style="count"), Column(heading="error, learned"),
            Column(heading="error, normal"), SERIES,
        ),
        rows=tuple(lines),
        notes=(
            found.setting,
            "Means over series; intervals: series drawn anew. Score of a window: 1 - cos of "
            "predicted and actual vectors, averaged over heads and the tail; average precision of "
            f"test windows. For comparison: reconstruction error {reconstruction:.3f}, by chance "
            f"{chance:.3f}.",
            "The network is frozen; each predictor is new and trained for six epochs on the same "
            "windows. Only the first was trained with the network, for up to 30 epochs, with a "
            "gradient into the embedding: the script compares it with the last three.",
            "Error: on the windows the predictors were trained on, and on normal test windows.",
        ),
    )  # fmt: skip
