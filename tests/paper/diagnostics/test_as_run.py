from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from axonad.paper.diagnostics.as_run import (
    AS_RUN,
    PREDICTED,
    average_precision,
    measure_as_run,
    measure_predictors,
)
from axonad.paper.diagnostics.chosen_windows import choose_windows
from axonad.paper.probe_windows import WindowProbe

T, HEADS = 10, 3


def make_case(seed=0, rows=600):
    rng = np.random.default_rng(seed)
    labels = np.zeros(rows, dtype=np.int8)
    labels[400:440] = 1
    chosen = choose_windows(labels, window=T, train_steps=200, seed=0)
    n = chosen.starts.size
    probe = WindowProbe(
        d_rec=rng.exponential(size=n), d_q=rng.random(n), deviation=rng.random((n, HEADS)),
        divergence=rng.random((n, HEADS)) ** 2, entropy=3 + rng.random(n),
    )  # fmt: skip
    return probe, chosen


def naive_precision(scores, anomalous):
    """Return the mean precision at every anomalous window, of the windows in falling order."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    found, precisions = 0, []
    for place, i in enumerate(order, 1):
        if anomalous[i]:
            found += 1
            precisions.append(found / place)
    return np.mean(precisions)


def test_measures_equal_their_naive_twins():
    probe, chosen = make_case()
    found = measure_as_run(probe, chosen)
    train = [i for i in range(len(chosen.starts)) if chosen.starts[i] + T <= 200]
    test = [i for i in range(len(chosen.starts)) if i not in train]
    z = {}
    for name in ("d_rec", "d_q"):
        values = getattr(probe, name)
        low, middle, high = np.percentile(values[train], [25, 50, 75])
        z[name] = (values - middle) / (high - low)
    counts = dict.fromkeys(("query only", "reconstruction only", "both high", "both low"), 0)
    for i in test:
        if chosen.anomalous[i]:
            rec, q = z["d_rec"][i] > 0, z["d_q"][i] > 0
            name = "both high" if rec and q else "query only" if q else "reconstruction only"
            counts[name if rec or q else "both low"] += 1
    for name, count in counts.items():
        assert found[f"as run {name}"] == count
    assert sum(counts.values()) == found["as run anomalous windows"] == 49
    assert found["as run test windows"] == len(test)
    scores = {**z, "sum": z["d_rec"] + z["d_q"]}
    for name, values in scores.items():
        expected = naive_precision(values[test], chosen.anomalous[test])
        assert found[f"as run AP {name}"] == pytest.approx(expected)
    pairs = [(probe.deviation[i, h], probe.divergence[i, h])
             for i in range(len(chosen.starts)) for h in range(HEADS)]  # fmt: skip
    assert found["as run kl spearman"] == pytest.approx(spearmanr(*zip(*pairs, strict=True))[0])
    assert found["as run parts pearson"] == pytest.approx(np.corrcoef(probe.d_rec, probe.d_q)[0, 1])
    assert found["as run entropy"] == pytest.approx(np.mean(probe.entropy))


def test_errors_of_predictors_are_judged_on_test_windows():
    probe, chosen = make_case()
    learned = chosen.learned(0)
    rng = np.random.default_rng(1)
    errors = {name: rng.random(chosen.starts.size) for name in PREDICTED}
    errors["keys"] = chosen.anomalous + 0.5 * chosen.training
    found = measure_predictors(errors, chosen, learned)
    assert found["probe AP keys"] == 1
    assert found["probe error keys learned"] == 0.5
    assert found["probe error keys normal"] == 0
    test = ~chosen.training
    expected = naive_precision(errors["values"][test], chosen.anomalous[test])
    assert found["probe AP values"] == pytest.approx(expected)
    assert {*found, *measure_as_run(probe, chosen)} == set(AS_RUN)


def test_windows_of_one_kind_have_no_precision():
    assert np.isnan(average_precision(np.arange(3.0), np.zeros(3, dtype=bool)))
