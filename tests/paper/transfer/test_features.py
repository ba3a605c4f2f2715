from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from axonad.errors import InputError, UnknownNameError
from axonad.paper.transfer import features
from axonad.paper.transfer.features import ALL_GROUPS, GROUPS, LAGS, summarise
from tests.conftest import waves

rng = np.random.default_rng(0)
X = np.cumsum(rng.normal(size=(1500, 4)), axis=0) + 5 * waves(1500, 4)


def differing(a, b):
    assert list(a) == list(b)
    return {name for name in a if not np.isclose(a[name], b[name], rtol=1e-6, atol=1e-6)}


def test_names_carry_their_group():
    found = summarise(X)
    assert {name.split(".")[0] for name in found} == set(GROUPS)
    assert {name.split(".")[0] for name in summarise(X, groups=ALL_GROUPS)} == set(ALL_GROUPS)
    assert list(summarise(X, groups=["shape"])) == ["shape.skewness", "shape.kurtosis"]
    assert all(type(value) is float for value in found.values())


def test_the_level_of_a_channel_does_not_matter():
    assert not differing(summarise(X), summarise(X + np.array([5.0, -1e3, 0.0, 1e4])))


@pytest.mark.parametrize("factor", [1e-9, 3.7, 1e12])
def test_units_change_the_scale_alone(factor):
    plain, scaled = summarise(X), summarise(X * factor)
    assert differing(plain, scaled) == {"scale.std"}
    assert scaled["scale.std"] - plain["scale.std"] == pytest.approx(np.log10(factor))
    one = summarise(X * [factor, 1, 1, 1])
    assert differing(plain, one) <= {"scale.std", "scale.spread"}


def test_neither_sign_nor_order_of_channels_matters():
    plain = summarise(X, groups=ALL_GROUPS)
    assert not differing(plain, summarise(X[:, ::-1] * [1, -1, 1, -1], groups=ALL_GROUPS))


def test_a_constant_channel_changes_only_the_share_of_constant_ones():
    still = summarise(np.column_stack([X, np.full(len(X), 0.1)]))
    assert differing(summarise(X), still) == {"scale.constant"}
    assert still["scale.constant"] == pytest.approx(0.2)


def test_rounding_is_not_movement():
    third = np.where(np.arange(200) % 2, 0.1 + 0.2, 0.3)[:, None]
    assert summarise(third)["scale.constant"] == 1.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (500, 2)])
def test_a_segment_that_never_moves(shape):
    found = summarise(np.full(shape, 7.0), groups=ALL_GROUPS)
    assert found.pop("scale.constant") == 1.0
    assert set(found.values()) == {0.0}


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_features_of_short_and_wild_segments_are_finite(data):
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 3)))
    number = st.floats(allow_nan=False, allow_infinity=False)
    found = summarise(data.draw(arrays(np.float64, shape, elements=number)), groups=ALL_GROUPS)
    assert np.isfinite(list(found.values())).all()


def test_autocorrelation_equals_its_definition():
    x = X[:300, :1]
    found, z = summarise(x, groups=["autocorrelation"]), (x - x.mean()) / x.std()
    naive = [float((z[lag:] * z[: len(z) - lag]).sum() / len(z)) for lag in range(len(z))]
    for lag in LAGS:
        assert found[f"autocorrelation.lag_{lag}"] == pytest.approx(naive[lag])
    first = next(lag for lag, value in enumerate(naive) if value <= 0)
    assert found["autocorrelation.zero"] == pytest.approx(np.log10(first))
    assert summarise(x[:20])["autocorrelation.lag_25"] == 0.0


def test_known_shapes():
    flat, normal = rng.uniform(size=(20_000, 1)), rng.normal(size=(20_000, 1))
    kurtosis = {name: summarise(x)["shape.kurtosis"] for name, x in [("u", flat), ("n", normal)]}
    assert kurtosis["u"] == pytest.approx(np.arcsinh(-1.2), abs=0.02)
    assert kurtosis["n"] == pytest.approx(0, abs=0.15)
    assert summarise(np.exp(normal))["shape.skewness"] > np.arcsinh(3)
    assert summarise(normal)["scale.iqr"] == pytest.approx(np.log10(1.349), abs=0.01)
    assert summarise(flat)["scale.range"] == pytest.approx(np.log10(12**0.5), abs=0.01)
    rare = np.zeros((1000, 1))
    rare[500] = 1.0
    assert summarise(rare)["scale.iqr"] == -3.0, "the floor of a channel at rest"


def test_known_spectra():
    t = np.arange(4000)[:, None]
    slow, fast = summarise(np.sin(t * 2 * np.pi / 128)), summarise(np.sin(t * 2 * np.pi / 4))
    noise = summarise(rng.normal(size=(20_000, 1)))
    assert slow["spectrum.peak"] == pytest.approx(np.log10(1 / 128))
    assert fast["spectrum.peak"] == pytest.approx(np.log10(1 / 4))
    assert fast["spectrum.centroid"] == pytest.approx(np.log10(1 / 4), abs=1e-3)
    assert slow["spectrum.low"] > 0.99
    assert fast["spectrum.low"] < 0.01
    assert noise["spectrum.low"] == pytest.approx(2 / 32, abs=0.01)
    assert fast["spectrum.entropy"] < 0.3
    assert noise["spectrum.entropy"] > 0.99


def test_coupling_tells_channels_that_move_together():
    base = rng.normal(size=(2000, 1))
    together = summarise(np.hstack([base, -2 * base]), groups=["coupling"])
    apart = summarise(rng.normal(size=(2000, 5)), groups=["coupling"])
    assert together["coupling.correlation"] == pytest.approx(1.0)
    assert apart["coupling.correlation"] < 0.1
    assert summarise(base, groups=["coupling"])["coupling.correlation"] == 0.0


def test_a_long_segment_is_read_from_its_start(monkeypatch):
    monkeypatch.setattr(features, "MAX_ROWS", 400)
    assert summarise(X) == summarise(X[:400])


def test_input_is_left_alone_and_the_result_repeats():
    for given_type in (np.float32, np.float64):
        x = X.astype(given_type)
        before = x.copy()
        assert summarise(x) == summarise(pd.DataFrame(x))
        assert np.array_equal(x, before)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="two dimensions"):
        summarise(X[:, 0])
    with pytest.raises(InputError, match=r"NaN or infinite value in the segment, first at row 3"):
        summarise(np.where(np.arange(9)[:, None] == 3, np.nan, 1.0))
    with pytest.raises(UnknownNameError, match="no feature group 'spectra'; did you mean 'spec"):
        summarise(X, groups=["spectra"])
    with pytest.raises(UnknownNameError, match="expected one of scale, shape"):
        summarise(X, groups=["xyz"])
