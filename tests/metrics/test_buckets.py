"""Bucketed ranks are exact for every distribution of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.metrics import evaluate
from axonad.metrics.buckets import build_buckets

finite = st.floats(-1e150, 1e150)


@settings(max_examples=200, deadline=None)
@given(st.lists(finite | st.integers(-3, 3).map(float), min_size=1, max_size=80), st.data())
def test_selected_scores_are_those_of_the_sorted_array(values, data):
    ordered = np.sort(values)
    places = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=9))
    picked, below = build_buckets(np.array(values)).select(np.array(places))
    assert picked.tolist() == ordered[places].tolist()
    assert below.tolist() == [int(np.sum(ordered < value)) for value in picked]


SHAPES = {
    "uniform": lambda rng, n: rng.random_sample(n),
    "one huge outlier": lambda rng, n: np.append(rng.random_sample(n - 1), 1e200),
    "seven decades": lambda rng, n: 10.0 ** (7 * rng.random_sample(n)),
    "mostly one value": lambda rng, n: np.where(rng.random_sample(n) < 0.01, 1.0, 0.0),
    "two far clusters": lambda rng, n: rng.random_sample(n) + 1e9 * rng.randint(0, 2, n),
    "whole numbers": lambda rng, n: rng.randint(0, 50, n).astype(float),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_long_series_give_what_plain_sorting_gives(shape):
    rng = np.random.RandomState(0)
    size = 40_000
    scores = SHAPES[shape](rng, size)
    labels = (np.arange(size) % 1000) < 30
    result = evaluate(scores, labels, window=0, metrics=["Standard-F1", "VUS-PR"])

    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)
    hits, alarms = np.cumsum(labels[order])[last], np.flatnonzero(last) + 1
    precision, recall = hits / alarms, hits / labels.sum()
    f1 = 2 * precision * recall / (precision + recall + 1e-5)
    assert result["Standard-F1"] == pytest.approx(f1.max(), abs=1e-12)
    at_threshold = f1[scores[order][last] == result.alarms.threshold]
    assert at_threshold.tolist() == [pytest.approx(f1.max(), abs=1e-12)]

    limits = scores[order][np.linspace(0, size - 1, 250).astype(int)]
    peaks = scores.reshape(-1, 1000)[:, :30].max(axis=1)
    tpr = [np.mean(scores[labels] >= v) * np.mean(peaks >= v) for v in limits]
    rate = [np.mean(labels[scores >= v]) for v in limits]
    expected = np.sum(np.diff(tpr, prepend=0) * rate)
    assert result["VUS-PR"] == pytest.approx(expected, abs=1e-12)
