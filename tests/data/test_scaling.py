from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from axonad.data import scaling
from axonad.data.scaling import SCALINGS, find_movement, fit_scaler
from axonad.errors import InputError

rng = np.random.default_rng(0)


def test_array_rule_scales_each_array_by_itself():
    X, other = rng.normal(3, 2, (500, 2)), rng.normal(-7, 0.1, (300, 2))
    scaler = fit_scaler(X, "array")
    for part in (X, other):
        z = scaler.apply(part)
        np.testing.assert_allclose(z, (part - part.mean(0)) / part.std(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rule", ["soft", "train"])
def test_causal_rules_know_the_training_series_only(rule):
    scaler = fit_scaler(rng.normal(size=(200, 3)), rule)
    X = rng.normal(size=(100, 3))
    changed = X.copy()
    changed[60:] = 1e6
    assert np.array_equal(scaler.apply(X)[:60], scaler.apply(changed)[:60])


@pytest.mark.parametrize("factor", [1e-12, 1e-3, 1e9])
def test_soft_rule_knows_no_units(factor):
    X, Y = rng.normal(5, 2, (300, 2)), rng.normal(5, 9, (100, 2))
    expected = fit_scaler(X, "soft").apply(Y)
    got = fit_scaler(X * factor, "soft").apply(Y * factor)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_soft_rule_sees_small_movements_on_a_large_offset():
    X = 1e6 + 0.1 * rng.normal(size=(300, 1))
    assert fit_scaler(X, "soft").apply(np.array([[1e6 + 1.0]]))[0, 0] > 4


def test_train_rule():
    X = rng.normal(5, 3, (400, 2))
    X[:, 1] = 4.0
    z = fit_scaler(X, "train").apply(X + 1)
    np.testing.assert_allclose(z[:, 0], (X[:, 0] + 1 - X[:, 0].mean()) / X[:, 0].std(), rtol=1e-5)
    np.testing.assert_allclose(z[:, 1], 1 / 1e-8, rtol=1e-5)


def test_soft_rule_is_about_linear_inside_and_logarithmic_outside():
    X = rng.normal(size=(5000, 1))
    scaler = fit_scaler(X, "soft")
    z = scaler.apply(X.mean() + X.std() * np.array([[0.5], [1.0], [1e3], [1e6]]))[:, 0]
    np.testing.assert_allclose(z[:2], [0.5, 1.0], rtol=0.03)
    assert 15 < z[2] < 25
    assert 35 < z[3] < 45


def test_soft_rule_for_a_channel_that_hardly_moved():
    X = np.zeros((10_000, 1))
    X[5000] = 1.0  # std 0.01, range 1: the unit is a tenth of the range
    assert fit_scaler(X, "soft").unit[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("level", "noise"),
    [(0.0, 0), (0.1, 0), (90.0, 0), (-1e7, 0), (0.0, 1e-9), (0.1, 1e-7), (1.0, 1e-6), (90.0, 1e-6)],
)
def test_soft_rule_for_a_constant_or_nearly_constant_channel(level, noise):
    X = rng.normal(size=(500, 2))
    X[:, 1] = level + noise * rng.normal(size=500)
    scaler = fit_scaler(X, "soft")
    assert scaler.still.tolist() == [False, True]
    size = max(abs(level), 1.0)

    def moved_by(share):
        return scaler.apply(np.array([[0.0, level + share * size]]))[0, 1]

    assert abs(moved_by(0)) < 0.01
    assert abs(moved_by(1e-4)) < 0.02, "a trifle"
    assert 12 < moved_by(1e-2) < 13, "a percent"
    assert 40 < moved_by(1) < 41, "a flag"
    assert moved_by(-1e-2) == pytest.approx(-moved_by(1e-2), rel=1e-3)
    assert moved_by(1e200) < 3000


@pytest.mark.parametrize(
    ("level", "spread"),
    [(101_325, 50), (48.7, 0.001), (293.15, 0.5), (1e6, 0.1), (5e-5, 1e-6), (0.0, 1e-6)],
)
def test_soft_rule_keeps_small_honest_spreads(level, spread):
    wave = np.sin(np.arange(500) / 9)
    X = np.column_stack([rng.normal(size=500), level + spread * wave])
    scaler = fit_scaler(X, "soft")
    assert scaler.unit[1] == pytest.approx(spread * wave.std(), rel=1e-3)
    assert not scaler.still.any()


def test_the_scaling_of_the_paper_is_exact_about_constant_channels():
    X = rng.normal(size=(200, 3))
    X[:, 1], X[:, 2] = 5.0, 5 + 1e-6 * X[:, 2]
    for rule in ("train", "array"):
        scaler = fit_scaler(X, rule)
        np.testing.assert_allclose(scaler.unit, [X[:, 0].std(), 1e-8, X[:, 2].std()], rtol=1e-12)
        assert scaler.still.tolist() == [False, True, False]


def test_raw_values_are_not_scaled_but_constants_are_known():
    X = rng.normal(size=(200, 2))
    X[:, 1] = 5.0
    scaler = fit_scaler(X, "raw")
    np.testing.assert_array_equal(scaler.apply(X), X.astype(np.float32))
    assert scaler.still.tolist() == [False, True]


def test_movement_names_constant_and_nearly_constant_channels():
    X = rng.normal(size=(200, 3))
    X[:, 1], X[:, 2] = 5.0, 5 + 1e-6 * X[:, 2]
    found = find_movement(X)
    assert found.constant.tolist() == [False, True, False]
    assert found.nearly.tolist() == [False, False, True]


@pytest.mark.parametrize("rule", SCALINGS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_scaled_values_are_finite_and_square_fits_float32(rule, data):
    number = st.floats(-1e30, 1e30, width=64)
    X = data.draw(arrays(np.float64, (7, 2), elements=number))
    Y = data.draw(arrays(np.float64, (5, 2), elements=number))
    z = fit_scaler(X, rule).apply(Y)
    assert z.dtype == np.float32
    assert np.isfinite(z * z).all()


def test_long_series_are_scaled_in_blocks(monkeypatch):
    X = rng.normal(size=(1000, 3)).astype(np.float32)
    whole = fit_scaler(X, "soft").apply(X)
    monkeypatch.setattr(scaling, "BLOCK", 64)
    np.testing.assert_allclose(fit_scaler(X, "soft").apply(X), whole, rtol=1e-5, atol=1e-6)


def test_numbers_too_large_for_statistics_are_named():
    X = np.array([[1.0, 1e300], [2.0, -1e300]])
    with pytest.raises(InputError, match=r"channel 'big' holds values up to 1e\+300"):
        fit_scaler(X, "soft", ("small", "big"))


def test_a_channel_whose_spread_is_that_of_a_still_one_is_not_still():
    X = np.zeros((10_000, 2))
    X[5, 0] = 0.01  # a tenth of its range is a thousandth
    X[:, 1] = np.arange(10_000)
    assert not fit_scaler(X, "soft").still.any()


@pytest.mark.parametrize("rule", ["soft", "train", "raw"])
def test_scaled_values_can_be_turned_back(rule):
    X = rng.normal(size=(200, 3)) * [1.0, 50.0, 0.0] + [0.0, 7.0, 3.0]
    Y = 5 * X + [0.0, 1.0, 0.5]  # the constant channel moves
    scaler = fit_scaler(X, rule)
    found = scaler.invert(scaler.apply(Y).astype(np.float64))
    np.testing.assert_allclose(found, Y, rtol=1e-4, atol=1e-4)
