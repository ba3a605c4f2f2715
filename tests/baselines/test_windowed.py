"""Units, batches and alignment of the classical baselines."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad import make_detector
from axonad.baselines._windowed import mean_over_windows, standardise_own
from axonad.errors import InputError
from axonad.registry import detector_class
from axonad.stream import Session
from axonad.testing import CHECKS
from tests.baselines.detectors import WINDOWED, fit_and_score, noise
from tests.baselines.naive import own_units
from tests.conftest import waves


def test_own_units_hide_the_size_of_a_row_and_leave_constant_rows_at_zero():
    X = np.array([[1.0, 2.0, 4.0], [10.0, 20.0, 40.0], [0.1, 0.1, 0.1]])
    z = standardise_own(X, is_row=True)
    np.testing.assert_allclose(z[:2], own_units(X[:2]))
    np.testing.assert_allclose(z[0], z[1])
    np.testing.assert_array_equal(z[2], 0)


def test_mean_over_windows_is_the_mean_of_all_windows_over_a_step():
    ends = np.random.default_rng(0).random(30)
    expected = [ends[max(0, i - 6) : i + 1].mean() for i in range(36)]
    np.testing.assert_allclose(mean_over_windows(ends, window=7), expected)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("units", ["own", "train", "soft", "raw"])
def test_every_windowed_detector_takes_windows_units_and_places(name, units, tmp_path):
    X, Y = waves(200), waves(90, seed=1)
    detector = make_detector(name, window=6, units=units, align="end").fit(X)
    end = detector.decision_function(Y)
    assert len(end) == 90
    session = Session(detector)
    live = [session.push(row).scores[0] for row in Y]
    np.testing.assert_allclose(live[5:], end[5:], rtol=1e-6, atol=1e-9)
    detector.save(tmp_path / "m")
    np.testing.assert_array_equal(axonad.load(tmp_path / "m").decision_function(Y), end)
    center = detector.set_params(align="center").decision_function(Y)
    np.testing.assert_array_equal(center[3:-2], end[5:])
    assert len(detector.set_params(align="mean").decision_function(Y)) == 90


@pytest.mark.parametrize("name", ["IForest", "PCA"])
def test_contract_with_the_windows_of_parity(name):
    cls = detector_class(name)
    for check in ("saved_is_the_same", "stream_equals_batch", "one_channel_is_enough"):
        CHECKS[check](lambda: cls(**cls.parity))


@pytest.mark.parametrize("name", [*WINDOWED, "RobustPCA"])
def test_batches_do_not_show(name, monkeypatch):
    X, Y = waves(200), waves(90, seed=1)
    params = {} if name == "RobustPCA" else {"window": 5}
    whole = make_detector(name, **params).fit(X)
    expected, own = whole.decision_function(Y), whole.decision_function(X)
    monkeypatch.setattr("axonad.baselines._windowed.BATCH_VALUES", 170)
    monkeypatch.setattr("axonad.baselines.robust_pca.BLOCK", 17)
    parts = make_detector(name, **params).fit(X)
    np.testing.assert_allclose(parts.decision_function(Y), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(parts.decision_function(X), own, rtol=1e-6, atol=1e-7)


def test_memory_layout_does_not_show():
    X = noise()
    for name in WINDOWED:
        params = {"window": 1}
        expected = fit_and_score(name, np.ascontiguousarray(X), **params)
        np.testing.assert_array_equal(fit_and_score(name, np.asfortranarray(X), **params), expected)


@pytest.mark.parametrize("name", ["KNN", "LOF", "RobustPCA", "KMeansAD", "CBLOF"])
def test_a_sample_is_drawn_by_the_seed_and_says_about_the_same(name):
    X, Y = waves(600), waves(200, seed=1)
    Y[100:110] += np.array([3.0, -3.0, 0.0])
    few, again, other = (fit_and_score(name, X, Y, max_train=200, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(few, again)
    assert not np.array_equal(few, other)
    whole = fit_and_score(name, X, Y, max_train=None, seed=1)
    np.testing.assert_array_equal(whole, fit_and_score(name, X, Y, max_train=600, seed=1))
    assert np.corrcoef(few, whole)[0, 1] > 0.8


@pytest.mark.parametrize("name", ["KNN", "LOF", "PCA"])
def test_a_single_row_is_too_little(name):
    with pytest.raises(InputError, match="it is a single row"):
        make_detector(name).fit(waves(1))
