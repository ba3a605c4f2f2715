from __future__ import annotations

import numpy as np
import pytest

from axonad.paper.diagnostics.measure import (
    HIGH,
    MEASURES,
    contains_label,
    measure_inside,
    measure_quality,
    measure_regimes,
    thresholds,
)
from axonad.paper.diagnostics.rules import OURS, RULES, Parts
from axonad.paper.probe import Probe

T, K = 10, 4


def make_probe(seed=0, windows=400, **given):
    rng = np.random.default_rng(seed)
    names = ("d_rec", "d_q", "deviation", "divergence", "turn", "length", "entropy")
    return Probe(**{name: rng.normal(size=windows) for name in names} | given)


def test_windows_that_hold_a_label():
    labels = (np.random.default_rng(0).random(80) < 0.05).astype(np.int8)
    naive = [labels[i : i + T].any() for i in range(80 - T + 1)]
    assert contains_label(labels, T).tolist() == naive


def test_thresholds_come_from_training_windows_alone():
    train = make_probe(1)
    found = thresholds(train)
    assert np.mean(train.d_q <= found["d_q"]) == pytest.approx(HIGH, abs=0.01)
    assert found["sum"] == np.quantile(train.d_rec + train.d_q, HIGH)


def test_regimes_are_shares_of_anomalous_windows():
    labels = np.zeros(409, dtype=np.int8)
    labels[200:220] = 1
    rec, q = np.zeros(400), np.zeros(400)
    q[191:200] = 5  # nine windows that begin to hold the event
    rec[200:205] = 5  # five of those that still do
    q[203:205] = 5  # two of them in both
    rec[:50] = 9  # normal windows do not count
    found = measure_regimes(
        make_probe(d_rec=rec, d_q=q), labels, {"d_rec": 1.0, "d_q": 1.0, "sum": 2.0},
        window=T, align="center", seed=0,
    )  # fmt: skip
    assert found["anomalous windows"] == 29
    assert found["query only"] == pytest.approx(9 / 29)
    assert found["reconstruction only"] == pytest.approx(3 / 29)
    assert found["both high"] == pytest.approx(2 / 29)
    # windows 195 to 214 are placed on the event: their fifth step is in it
    assert found["query only placed"] == pytest.approx(5 / 20)
    assert found["reconstruction only placed"] == pytest.approx(3 / 20)


def test_what_needs_no_label():
    x = np.linspace(0, 1, 400)
    heavy = make_probe(d_rec=30 * x, d_q=10 * x[::-1], deviation=x, divergence=np.exp(9 * x))
    found = measure_inside(heavy, window=T, seed=0)
    assert found["kl spearman"] == pytest.approx(1)
    assert found["parts pearson"] == pytest.approx(-1)
    assert found["parts spearman"] == pytest.approx(-1)
    assert found["tail ratio"] == pytest.approx(3)
    assert found["sum spearman d_rec"] == pytest.approx(1)
    assert found["top share d_rec"] > 0.99


def test_a_tail_without_a_positive_end_has_no_ratio():
    found = measure_inside(make_probe(d_q=np.full(400, -1.0)), window=T, seed=0)
    assert np.isnan(found["tail ratio"])
    assert np.isnan(found["parts spearman"])


def test_a_heavy_tail_drowns_the_other_part_in_the_sum_but_not_in_ranks():
    rng = np.random.default_rng(0)
    labels = np.zeros(2000 + T - 1, dtype=np.int8)
    labels[1000:1100] = 1
    q = rng.normal(size=2000)
    q[1000:1095] += 6
    parts = Parts(np.exp(3 * rng.normal(size=2000)), q, T, K, "center")
    found = measure_quality(parts, labels, vus_window=20)
    for rule in ("log", "ranks", "clipped"):
        assert found[f"VUS-PR {rule}"] > 1.4 * found["VUS-PR sum"]
    assert set(found) == {f"{m} {rule}" for m in ("AUC-PR", "VUS-PR") for rule in RULES}
    assert set(found) <= set(MEASURES)
    assert not {"sum", "d_rec", "d_q"} & set(OURS)
