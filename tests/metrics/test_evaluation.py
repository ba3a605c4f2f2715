"""What a caller of `evaluate` sees: names, windows, chance levels."""

import json
import math
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from axonad import errors
from axonad.metrics import (
    ALARM_METRICS,
    SCORE_METRICS,
    chance_level,
    evaluate,
    evaluate_alarms,
)

SCORES = [0.1, 0.4, 0.9, 0.8, 0.2, 0.3, 0.7, 0.1]
LABELS = [0, 0, 1, 1, 0, 0, 0, 0]


def test_the_result_is_a_dict_that_prints_well():
    result = evaluate(SCORES, LABELS)
    assert isinstance(result, dict)
    assert list(result) == list(SCORE_METRICS)
    assert str(result).startswith('{"VUS-PR": ')
    assert json.loads(str(result))["AUC-PR"] == 1.0
    assert json.loads(json.dumps(result)) == dict(result)


def test_tsb_ad_names_are_aliases():
    result = evaluate(SCORES, LABELS)
    pairs = {
        "Event-based-F1": "Event-F1",
        "R-based-F1": "Range-F1",
        "Affiliation-F": "Affiliation-F1",
    }
    for alias, name in pairs.items():
        assert result[alias] == result[name]
    assert list(evaluate(SCORES, LABELS, metrics=list(pairs))) == list(pairs.values())
    with pytest.raises(KeyError, match="F2"):
        result["F2"]


def test_the_result_survives_a_pickle():
    result = evaluate(SCORES, LABELS, window=3)
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert copy == result
    assert (copy.window, copy.alarms) == (3, result.alarms)


def test_everything_can_be_written_as_json():
    result = evaluate_alarms([0] * 8, LABELS, window=3, times=range(8))
    plain = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert plain["metrics"]["Affiliation-F1"] is None
    assert plain["alarms"]["precision"] is None
    assert plain["window"] == 3


def test_the_result_says_which_window_was_used():
    wave = np.sin(np.arange(600) * 2 * np.pi / 40)
    labels = np.arange(600) // 30 == 9
    plain = evaluate(wave, labels)
    assert (plain.window, plain.window_source) == (100, "default")
    given = evaluate(wave, labels, window=np.int64(7))
    assert (given.window, given.window_source) == (7, "given")
    ruled = evaluate(wave, labels, window="tsb-ad-1.5", channel=wave)
    assert (ruled.window, ruled.window_source) == (40, "tsb-ad-1.5")
    assert evaluate(wave, labels, channel=wave).window_source == "tsb-ad-2026"
    assert ruled["VUS-PR"] == evaluate(wave, labels, window=40)["VUS-PR"]


def test_constant_scores_have_the_documented_values():
    result = evaluate([3.0] * 8, LABELS, window=4)
    assert math.isnan(result["Affiliation-F1"])
    assert result["AUC-ROC"] == 0.5
    assert result["AUC-PR"] == 0.25
    assert [result[name] for name in ("PA-F1", "Event-F1", "Range-F1")] == [0, 0, 0]


def test_no_alarm_has_the_documented_values():
    result = evaluate_alarms([0] * 8, LABELS, window=4)
    undefined = {name for name, value in result.items() if math.isnan(value)}
    assert undefined == {"Affiliation-F1", "VUS-Precision"}
    assert all(result[name] == 0 for name in set(ALARM_METRICS) - undefined)


def test_chance_level_knows_what_luck_gives():
    labels = np.zeros(2000, dtype=int)
    labels[500:700] = 1
    level = chance_level(labels, window=20)
    assert list(level) == list(SCORE_METRICS)
    assert level["AUC-ROC"] == pytest.approx(0.5, abs=0.03)
    assert level["AUC-PR"] == pytest.approx(0.1, abs=0.02)
    assert level["Standard-F1"] < 0.3
    assert level["PA-F1"] > 0.9  # why PA-F1 misleads
    assert level == chance_level(labels, window=20)
    assert level != chance_level(labels, window=20, seed=1)


def test_chance_level_of_random_alarms():
    labels = np.arange(1000) // 50 == 4
    level = chance_level(labels, window=10, alarm_rate=0.1)
    assert list(level) == list(ALARM_METRICS)
    assert level["Standard-F1"] == pytest.approx(0.067, abs=0.03)
    with pytest.raises(errors.ConfigError, match="alarm_rate must lie between 0 and 1, got 2"):
        chance_level(labels, alarm_rate=2)
    with pytest.raises(errors.ConfigError, match="draws must be at least 1, got 0"):
        chance_level(labels, draws=0)


def test_memory_grows_with_the_series_only():
    """Well below the 250 x n of a table with one row per threshold."""
    rng = np.random.default_rng(0)
    labels = np.zeros(100_000, dtype=int)
    labels.reshape(50, -1)[:, :40] = 1
    scores = rng.random(labels.size)
    tracemalloc.start()
    evaluate(scores, labels, window=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * labels.size


def test_the_import_is_light():
    code = (
        "import sys, axonad.metrics;"
        "print([m for m in ('torch', 'polars', 'pandas', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
