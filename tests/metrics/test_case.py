"""Scores, alarms and labels as they are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from axonad import errors
from axonad.metrics import evaluate, evaluate_alarms
from axonad.metrics.case import Case

SCORES = [0.1, 0.4, 0.9, 0.8, 0.2, 0.3, 0.7, 0.1]
LABELS = [0, 0, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("values", [np.array(SCORES, dtype=np.float32), tuple(SCORES)])
def test_other_containers_give_the_same(values):
    expected = evaluate(np.asarray(values, dtype=np.float64), np.array(LABELS, dtype=bool))
    assert evaluate(values, np.array(LABELS, dtype=float)) == expected


def test_pandas_and_polars_columns_are_accepted():
    import pandas
    import polars

    expected = evaluate(SCORES, LABELS)
    assert evaluate(pandas.Series(SCORES), pandas.Series(LABELS)) == expected
    assert evaluate(polars.Series(SCORES), polars.Series(LABELS)) == expected


def test_inputs_are_left_alone():
    scores, labels = np.array(SCORES), np.array(LABELS)
    evaluate(scores, labels)
    evaluate_alarms(labels, labels)
    assert scores.tolist() == SCORES
    assert labels.tolist() == LABELS


BAD = [
    ([0.1, math.nan, 1.0], [0, 0, 1], "scores must be finite, got nan at step 1 (1 of 3 steps)"),
    ([0.1, math.inf, 1.0], [0, 0, 1], "scores must be finite, got inf at step 1"),
    ([-1e308, 0.0, 1e308], [0, 0, 1], "scores must span a finite range"),
    ([0.1, 0.2], [0, 0, 1], "got 2 scores and 3 labels; give one label per step"),
    ([0.1, 0.2, 0.3], [0, 2, 1], "labels must be 0 or 1, got 2 at step 1 (1 of 3 steps)"),
    ([0.1, 0.2, 0.3], [0.0, math.nan, 1.0], "labels must be 0 or 1, got nan at step 1"),
    ([0.1, 0.2, 0.3], ["a", "b", "c"], "labels must be 0 or 1 for every step, got dtype"),
    ([0.1, 0.2, 0.3], None, "labels must be an array with one value per step, got None"),
    ([0.1, 0.2, 0.3], [0, 0, 0], "labels must mark at least one anomaly, got 3 steps labelled 0"),
    ([0.1, 0.2, 0.3], [1, 1, 1], "labels must leave at least one normal step"),
    ([], [], "scores must not be empty, got 0 steps"),
    (
        [[0.1], [0.2]],
        [0, 1],
        "scores must be one-dimensional, one value per step, got shape (2, 1)",
    ),
    ([[0.1], [0.2, 0.3]], [0, 1], "rows of unequal length"),
    (["x", "y"], [0, 1], "scores must be numbers, got dtype"),
    (None, [0, 1], "scores must be an array with one value per step, got None"),
]


@pytest.mark.parametrize(("scores", "labels", "message"), BAD)
def test_bad_input_is_refused_by_name(scores, labels, message):
    with pytest.raises(errors.InputError) as caught:
        evaluate(scores, labels)
    assert message in str(caught.value)


def test_bad_alarms_are_refused_by_name():
    with pytest.raises(errors.InputError, match=r"alarms must be 0 or 1, got 0\.5 at step 0"):
        evaluate_alarms([0.5, 1], [0, 1])
    with pytest.raises(errors.InputError, match="got 2 alarms and 3 labels"):
        evaluate_alarms([0, 1], [0, 1, 1])


def test_a_window_longer_than_any_series_is_refused():
    with pytest.raises(errors.ConfigError, match="window must be at most 10000 for 8 steps, got"):
        evaluate(SCORES, LABELS, window=10_001)


def test_a_level_counts_the_thresholds_below_a_score():
    """Thresholds between two neighbouring scores raise the same alarms, so they are one."""
    case = Case.from_scores([0.0, 3.0, 1.0, 3.0], [0, 1, 0, 0])
    assert case.levels.tolist() == [0, 2, 1, 2]
    alarms_in_events, false_alarms = case.level_counts
    assert alarms_in_events.tolist() == [1, 1]
    assert false_alarms.tolist() == [2, 1]
