from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from axonad.errors import InputError
from axonad.paper.transfer import features
from axonad.paper.transfer.features import LAGS, summary_features
from tests.conftest import waves

rng = np.random.default_rng(0)
X = np.cumsum(rng.normal(size=(1500, 4)), axis=0) + 5 * waves(1500, 4)


def differing(a, b):
    assert list(a) == list(b)
    return {name for name in a if not np.isclose(a[name], b[name], rtol=1e-6, atol=1e-6)}


def test_names_carry_their_group():
    found = summary_features(X)
    groups = {name.split(".")[0] for name in found}
    assert groups == {"scale", "shape", "autocorrelation", "spectrum"}
    assert all(type(value) is float for value in found.values())


def test_the_level_of_a_channel_does_not_matter():
    assert not differing(summary_features(X), summary_features(X + np.array([5.0, -1e3, 0.0, 1e4])))


@pytest.mark.parametrize("factor", [1e-9, 3.7, 1e12])
def test_units_change_the_scale_alone(factor):
    plain, scaled = summary_features(X), summary_features(X * factor)
    assert differing(plain, scaled) == {"scale.std"}
    assert scaled["scale.std"] - plain["scale.std"] == pytest.approx(np.log10(factor))
    one = summary_features(X * [factor, 1, 1, 1])
    assert differing(plain, one) <= {"scale.std", "scale.spread"}


def test_neither_sign_nor_order_of_channels_matters():
    plain = summary_features(X)
    assert not differing(plain, summary_features(X[:, ::-1] * [1, -1, 1, -1]))


def test_a_constant_channel_changes_only_the_share_of_constant_ones():
    still = summary_features(np.column_stack([X, np.full(len(X), 0.1)]))
    assert differing(summary_features(X), still) == {"scale.constant"}
    assert still["scale.constant"] == pytest.approx(0.2)


def test_rounding_is_not_movement():
    third = np.where(np.arange(200) % 2, 0.1 + 0.2, 0.3)[:, None]
    assert summary_features(third)["scale.constant"] == 1.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (500, 2)])
def test_a_segment_that_never_moves(shape):
    found = summary_features(np.full(shape, 7.0))
    assert found.pop("scale.constant") == 1.0
    assert set(found.values()) == {0.0}


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_features_of_short_and_wild_segments_are_finite(data):
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 3)))
    number = st.floats(allow_nan=False, allow_infinity=False)
    found = summary_features(data.draw(arrays(np.float64, shape, elements=number)))
    assert np.isfinite(list(found.values())).all()


def test_autocorrelation_equals_its_definition():
    x = X[:300, :1]
    found, z = summary_features(x), (x - x.mean()) / x.std()
    naive = [float((z[lag:] * z[: len(z) - lag]).sum() / len(z)) for lag in range(len(z))]
    for lag in LAGS:
        assert found[f"autocorrelation.lag_{lag}"] == pytest.approx(naive[lag])
    first = next(lag for lag, value in enumerate(naive) if value <= 0)
    assert found["autocorrelation.zero"] == pytest.approx(np.log10(first))
    assert summary_features(x[:20])["autocorrelation.lag_25"] == 0.0


def test_known_shapes():
    flat, normal = rng.uniform(size=(20_000, 1)), rng.normal(size=(20_000, 1))
    kurtosis = {
        name: summary_features(x)["shape.kurtosis"] for name, x in [("u", flat), ("n", normal)]
    }
    assert kurtosis["u"] == pytest.approx(np.arcsinh(-1.2), abs=0.02)
    assert kurtosis["n"] == pytest.approx(0, abs=0.15)
    assert summary_features(np.exp(normal))["shape.skewness"] > np.arcsinh(3)
    assert summary_features(normal)["scale.iqr"] == pytest.approx(np.log10(1.349), abs=0.01)
    assert summary_features(flat)["scale.range"] == pytest.approx(np.log10(12**0.5), abs=0.01)
    rare = np.zeros((1000, 1))
    rare[500] = 1.0
    assert summary_features(rare)["scale.iqr"] == -3.0, "the lower limit, log10 of MIN_IQR"


def test_known_spectra():
    t = np.arange(4000)[:, None]
    slow, fast = (
        summary_features(np.sin(t * 2 * np.pi / 128)),
        summary_features(np.sin(t * 2 * np.pi / 4)),
    )
    noise = summary_features(rng.normal(size=(20_000, 1)))
    assert slow["spectrum.peak"] == pytest.approx(np.log10(1 / 128))
    assert fast["spectrum.peak"] == pytest.approx(np.log10(1 / 4))
    assert fast["spectrum.centroid"] == pytest.approx(np.log10(1 / 4), abs=1e-3)
    assert slow["spectrum.low"] > 0.99
    assert fast["spectrum.low"] < 0.01
    assert noise["spectrum.low"] == pytest.approx(2 / 32, abs=0.01)
    assert fast["spectrum.entropy"] < 0.3
    assert noise["spectrum.entropy"] > 0.99


def test_a_long_segment_is_read_from_its_start(monkeypatch):
    monkeypatch.setattr(features, "MAX_ROWS", 400)
    assert summary_features(X) == summary_features(X[:400])


def test_input_is_left_alone_and_the_result_repeats():
    for given_type in (np.float32, np.float64):
        x = X.astype(given_type)
        before = x.copy()
        assert not differing(summary_features(x), summary_features(pd.DataFrame(x)))
        assert np.array_equal(x, before)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="two dimensions"):
        summary_features(X[:, 0])
    with pytest.raises(InputError, match=r"NaN or infinite value in the segment, first at row 3"):
        summary_features(np.where(np.arange(9)[:, None] == 3, np.nan, 1.0))
