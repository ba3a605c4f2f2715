"""Forecast and Relation against their naive twin, and what a user notices of both."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad import make_detector
from axonad.data.series import Series
from axonad.errors import ConfigError, DataWarning, InputError, ModelFileError
from axonad.stream import Session
from axonad.views import lagged_rows
from tests.conftest import waves
from tests.fuzz.forging import forge_arrays
from tests.views import naive

VIEWS = ("Forecast", "Relation")


def moving(rows, channels=3, seed=0):
    """Return noise that the past and the other channels explain in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, channels))
    for t in range(1, rows):
        X[t] += 0.5 * X[t - 1] + 0.3 * np.roll(X[t - 1], 1)
        X[t, 0] += X[t, -1]
    return X / X.std(axis=0)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("view", VIEWS)
def test_scores_are_those_of_separate_regressions(view, channels, monkeypatch):
    monkeypatch.setattr(lagged_rows, "BLOCK", 11)  # a long series comes in many blocks
    X, Y = moving(103, channels), moving(60, channels, seed=1)
    training, new = naive.fit_and_score(view, X, Y, lags=3, smooth=5)
    detector = make_detector(view, lags=3, smooth=5, align="end").fit(X)
    np.testing.assert_allclose(detector.decision_scores_[7:], training, rtol=1e-6)
    np.testing.assert_allclose(detector.score_ends(Y)[0], new, rtol=1e-6)
    np.testing.assert_allclose(detector.decision_function(Y)[7:], new, rtol=1e-6)
    np.testing.assert_array_equal(
        detector.set_params(align="center").decision_function(Y)[5:-2],
        detector.set_params(align="end").decision_function(Y)[7:],
    )


@pytest.mark.parametrize("view", VIEWS)
def test_blame_is_the_deviation_whose_largest_is_the_score(view):
    detector = make_detector(view).fit(waves(500))
    X = waves(300, seed=1)
    X[150:180, 1] += 1.0
    found = detector.explain(X)
    np.testing.assert_allclose(found.blame.max(axis=1), found.scores)
    assert found.blame[165].argmax() == 1
    assert found.events()[0].channels[0] == "1"


def test_relation_sees_a_wrong_course_as_long_as_it_lasts():
    X, Y = waves(2000), waves(600, seed=1)
    Y[300:400, 1] = Y[420:520, 1]  # the same course at the wrong time
    scores = make_detector("Relation", smooth=5).fit(X).decision_function(Y)
    assert scores[305:395].min() > 2 * np.r_[scores[:295], scores[420:]].max()


def test_forecast_sees_a_jump_at_once():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(3000, 2)), axis=0)  # unrelated, and the jump is within range
    Y = X[2000:].copy()
    Y[500:, 1] += 8 * np.sign(X[:2000, 1].mean() - Y[500, 1])
    detector = make_detector("Forecast", smooth=1, align="end").fit(X[:2000])
    scores = detector.decision_function(Y)
    assert scores.argmax() == 500
    assert scores[500] > detector.threshold_


@pytest.mark.parametrize("view", VIEWS)
def test_the_expected_course_is_that_of_the_others(view):
    """In the channel's own unit, with a band as wide as held-out rows deviate."""
    X, Y = waves(2000) * 100 + 7, waves(300, seed=1) * 100 + 7
    detector = make_detector(view, smooth=1, align="end").fit(X)
    expected = detector.expected(Y)
    assert np.isnan(expected.value[: detector.lags]).all()
    value, low, high = (part[detector.lags :] for part in expected)
    actual = Y[detector.lags :]
    assert np.abs(actual - value).mean() < 15  # noise of 5, waves of 100
    assert ((low < value) & (value < high)).all()
    outside = (actual < low) | (actual > high)
    np.testing.assert_array_equal(outside, detector.explain(Y).blame[detector.lags :] > 1)
    broken = Y.copy()
    broken[-1, 1] += 500
    np.testing.assert_allclose(detector.expected(broken).value[-1, 1], value[-1, 1])


@pytest.mark.parametrize("view", VIEWS)
def test_equal_and_constant_channels_are_fine(view):
    X = waves(400)
    X = np.column_stack([X, X[:, 0], 2 * X[:, 0], np.full(400, 5.0)])
    detector = make_detector(view).fit(X)
    Y = X.copy()
    Y[200:240, 3] += 1.0
    Y[300:340, 5] = 6.0
    blame = detector.explain(Y).blame
    assert blame[220].argmax() == 3
    assert blame[320].argmax() == 5
    assert np.isneginf(blame[100, 5])


def test_more_channels_than_rows_are_fine():
    X = np.random.default_rng(0).normal(size=(40, 30))
    for view in VIEWS:
        detector = make_detector(view, lags=2, smooth=5).fit(X)
        fresh = detector.decision_function(np.random.default_rng(1).normal(size=(40, 30)))
        assert np.median(fresh) < 2 * np.median(detector.decision_scores_)


@pytest.mark.parametrize("view", VIEWS)
def test_training_scores_are_those_of_new_rows(view):
    """Held out: a view that learned its own training noise would have lower scores there."""
    detector = make_detector(view, smooth=1).fit(moving(200, 8))
    fresh = detector.decision_function(moving(2000, 8, seed=1))
    assert 0.8 < np.median(detector.decision_scores_) / np.median(fresh) < 1.25


@pytest.mark.parametrize("view", VIEWS)
def test_an_extreme_row_is_forgotten(view):
    detector = make_detector(view, align="end").fit(waves(400))
    X = waves(300, seed=1)
    spiked = X.copy()
    spiked[100, 1] = 1e30
    before, after = detector.decision_function(X), detector.decision_function(spiked)
    assert after[100] > 100 * before[100]
    end = 100 + detector.history
    np.testing.assert_array_equal(before[end:], after[end:])
    session = Session(detector)
    live = [session.push(row).scores[0] for row in spiked]
    np.testing.assert_allclose(
        live[detector.history - 1 :], after[detector.history - 1 :], rtol=1e-9
    )


def test_gaps_begin_anew():
    detector = make_detector("Relation", lags=2, smooth=3).fit(waves(300))
    X = waves(60, seed=1)
    times = np.arange(60.0) + np.where(np.arange(60) < 30, 0, 100)
    with pytest.warns(DataWarning, match="gap"):
        found = detector.expected(Series(values=X, channels=("0", "1", "2"), times=times))
    whole = detector.expected(X)
    assert np.isnan(found.value[30:32]).all()
    np.testing.assert_array_equal(found.value[32:], whole.value[32:])


@pytest.mark.parametrize(
    ("view", "params", "rows", "error", "message"),
    [
        ("Forecast", {}, 40, InputError, "X needs at least 47 rows"),
        ("Forecast", {"smooth": 2}, 25, InputError,
         "Forecast with lags=16 needs at least 26 training rows, got 25; fit on more rows"),
        ("Relation", {"smooth": 1}, 17, InputError, "lags=8 needs at least 18 training rows"),
        ("Forecast", {"lags": 0}, 99, ConfigError, "lags must be at least 1, got 0"),
        ("Relation", {"lags": -1}, 99, ConfigError, "lags must be at least 0, got -1"),
        ("Relation", {"smooth": 0}, 99, ConfigError, "smooth must be at least 1, got 0"),
        ("Relation", {"align": "start"}, 99, ConfigError, "align must be one of 'center', 'end'"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(view, params, rows, error, message):
    with pytest.raises(error, match=message):
        make_detector(view, **params).fit(waves(rows))
    if error is InputError:
        least = 47 if rows == 40 else rows + 1
        assert len(make_detector(view, **params).fit(waves(least)).decision_scores_) == least


def test_a_forged_model_is_refused(tmp_path):
    from safetensors.numpy import load, save

    make_detector("Relation").fit(waves(100)).save(tmp_path)
    arrays = load((tmp_path / "state.safetensors").read_bytes())
    arrays["map"] = np.ascontiguousarray(arrays["map"][1:])
    forge_arrays(tmp_path / "detector.json", save(arrays))
    with pytest.raises(ModelFileError, match="map"):
        axonad.load(tmp_path)
