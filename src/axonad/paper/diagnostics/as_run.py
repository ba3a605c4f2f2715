"""The measures of the authors' script: one dict per series, with the names listed here.

The paper's numbers were made by these rules, which its text does not state. Both terms are
standardised by median and IQR of the normal training windows, in the scaling of the whole series;
a term is *high* in a window where it is above 0, the median of normal windows, and *low* where it
is below. Shares are pooled: counts of all series, divided by all anomalous test windows. Quality is
the average precision of test windows. Correlations and entropy are those of all chosen windows,
training windows included; deviation and divergence of a window count once for each head.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import pearson, spearman
from axonad.metrics import evaluate
from axonad.paper.diagnostics.chosen_windows import ChosenWindows, Mask, Places
from axonad.score.standardise import RobustScale, combine

if TYPE_CHECKING:
    from axonad.paper.probe_windows import WindowProbe

Array = NDArray[np.float64]
REGIMES = ("query only", "reconstruction only", "both high", "both low")
SCORES = ("d_rec", "d_q", "sum")
OWN = "own queries"
PREDICTED = (OWN, "queries", "keys", "values", "hidden")
"""What predictors predict; OWN is the query predictor that was trained with the network."""
ERRORS = ("learned", "normal")
"""Windows that a mean error is of: those a predictor was trained on, and normal test windows."""
AS_RUN: tuple[str, ...] = (
    *(f"as run {name}" for name in ("windows", "test windows", "anomalous windows")),
    *(f"as run {name}" for name in ("kl spearman", "parts pearson", "entropy")),
    *(f"as run {name}" for name in REGIMES),
    *(f"as run AP {name}" for name in SCORES),
    "probe windows",
    *(f"probe AP {name}" for name in PREDICTED),
    *(f"probe error {name} {of}" for name in PREDICTED for of in ERRORS),
)
"""The name of every measure, in the order of the columns."""


def measure_as_run(scored: WindowProbe, chosen: ChosenWindows) -> dict[str, float]:
    """Return the measures that the paper has numbers for; regimes are counts of windows."""
    test = ~chosen.training
    terms = {
        name: _standardise(values, chosen.reference)[test]
        for name, values in (("d_rec", scored.d_rec), ("d_q", scored.d_q))
    }
    anomalous = chosen.anomalous[test]
    rec, q = (values[anomalous] for values in terms.values())
    regimes = ((q > 0) & (rec < 0), (q < 0) & (rec > 0), (q > 0) & (rec > 0), (q < 0) & (rec < 0))
    found = {
        "windows": float(test.size),
        "test windows": float(test.sum()),
        "anomalous windows": float(anomalous.sum()),
        "kl spearman": spearman(scored.deviation.ravel(), scored.divergence.ravel()),
        "parts pearson": pearson(scored.d_rec, scored.d_q),
        "entropy": float(scored.entropy.mean()),
        **{name: float(among.sum()) for name, among in zip(REGIMES, regimes, strict=True)},
        **{
            f"AP {name}": average_precision(values, anomalous)
            for name, values in {**terms, "sum": combine(terms)}.items()
        },
    }
    return {f"as run {name}": value for name, value in found.items()}


def measure_predictors(
    errors: Mapping[str, Array], chosen: ChosenWindows, learned: Places
) -> dict[str, float]:
    """Return how well each predictor's error on test windows finds anomalies, and how small it is.

    Standardising an error would not change the order of windows, so it is left out.
    """
    test = ~chosen.training
    normal = test & ~chosen.anomalous
    found = {"probe windows": float(learned.size)}
    for name, values in errors.items():
        found[f"probe AP {name}"] = average_precision(values[test], chosen.anomalous[test])
        found[f"probe error {name} learned"] = float(values[learned].mean())
        found[f"probe error {name} normal"] = (
            float(values[normal].mean()) if normal.any() else math.nan
        )
    return found


def average_precision(scores: Array, anomalous: Mask) -> float:
    """Return the average precision of windows; NaN if all or none of them are anomalous."""
    if anomalous.all() or not anomalous.any():
        return math.nan
    return evaluate(scores, anomalous.astype(np.int8), metrics=["AUC-PR"])["AUC-PR"]


def _standardise(values: Array, reference: Mask) -> Array:
    return RobustScale.fit(values[reference]).apply(values)
