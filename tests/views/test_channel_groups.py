"""Linear views of many channels: against their naive twin, and against all inputs at once."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad import Fleet, make_detector
from axonad.errors import ModelFileError
from axonad.views import channel_groups
from axonad.views.channel_groups import divide
from tests.fuzz.forging import forge_arrays
from tests.views import naive
from tests.views.test_linear import VIEWS, moving

WORSE = 1.01  # most residual, in residuals of a prediction from all channels


def few(monkeypatch, *, together=4, group=2, mixtures=1, inputs=5, lags=3):
    """Let so few channels be many."""
    monkeypatch.setattr(channel_groups, "TOGETHER", together)
    monkeypatch.setattr(channel_groups, "WHOLE", 0)
    monkeypatch.setattr(channel_groups, "GROUP", group)
    monkeypatch.setattr(channel_groups, "MIXTURES", mixtures)
    monkeypatch.setattr(channel_groups, "VALUES", (inputs + mixtures) * (lags + 1))


def slow(rng, rows, channels, memory=0.9):
    """Return slow signals of variance 1."""
    X = rng.normal(size=(rows, channels))
    for t in range(1, rows):
        X[t] = memory * X[t - 1] + np.sqrt(1 - memory**2) * X[t]
    return X


def factors(rng, rows, channels):
    """All channels follow the same few signals."""
    loadings = rng.normal(size=(5, channels)) / np.sqrt(5)
    return slow(rng, rows, 5) @ loadings + 0.7 * rng.normal(size=(rows, channels))


def machines(rng, rows, channels):
    """Every five channels follow two signals of their own, and all of them a third."""
    X = slow(rng, rows, 1) @ rng.normal(size=(1, channels))
    for first in range(0, channels, 5):
        part = X[:, first : first + 5]
        part += 0.7 * slow(rng, rows, 2) @ rng.normal(size=(2, part.shape[1]))
    return X + 0.3 * rng.normal(size=(rows, channels))


def opposites(rng, rows, channels):
    """Two channels are a shared load plus and minus a signal; others resemble both more."""
    load, own = slow(rng, rows, 1, 0.98), 0.5 * slow(rng, rows, channels // 2, 0.5)
    X = np.concatenate([load + own, load - own], axis=1)
    return X + 0.1 * rng.normal(size=X.shape)


def delays(rng, rows, channels):
    """Half of the channels repeat one of the others, up to two rows later."""
    first = rng.normal(size=(rows + 2, channels // 2))
    late = np.stack([first[2 - i % 3 : rows + 2 - i % 3, i] for i in range(channels // 2)], axis=1)
    return np.concatenate([first[2:], late + 0.5 * rng.normal(size=late.shape)], axis=1)


KINDS = (factors, machines, opposites, delays)


def residual(view, train, new, **params):
    """Return the root mean squared residual of each channel in new rows."""
    detector = make_detector(view, smooth=1, **params).fit(train)
    expected = detector.expected(new).value[detector.lags :]
    return np.sqrt(np.square(new[detector.lags :] - expected).mean(axis=0))


@pytest.mark.parametrize("view", VIEWS)
def test_scores_are_those_of_separate_regressions(view, monkeypatch):
    few(monkeypatch)
    X, Y = moving(103, 9), moving(60, 9, seed=1)
    detector = make_detector(view, lags=3, smooth=5, align="end").fit(X)
    groups = detector._map.groups
    assert len(groups) == 5
    training, new = naive.fit_and_score(view, X, Y, lags=3, smooth=5, groups=groups)
    np.testing.assert_allclose(detector.decision_scores_[7:], training, rtol=1e-6)
    np.testing.assert_allclose(detector.score_ends(Y)[0], new, rtol=1e-6)


@pytest.mark.parametrize("view", VIEWS)
def test_live_and_saved_scores_are_the_same(view, monkeypatch, tmp_path):
    few(monkeypatch)
    detector = make_detector(view, lags=3, smooth=5, align="end").fit(moving(150, 9))
    series = {f"car {seed}": moving(40, 9, seed) for seed in range(1, 4)}
    fleet, found = Fleet(detector), {name: [] for name in series}
    for step in range(40):
        for name, given in fleet.push({name: Y[step] for name, Y in series.items()}).items():
            found[name] += [score for score in given.scores.tolist() if not np.isnan(score)]
    loaded = axonad.load(detector.save(tmp_path) or tmp_path)
    for name, Y in series.items():
        expected = detector.score_ends(Y)[0]
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(loaded.score_ends(Y)[0], expected)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("group", lambda array: array + 4),
        ("inputs", lambda array: array - 1),
        ("inputs", lambda array: array[1:]),
        ("mixtures", lambda array: array[:, 1:]),
        ("map", lambda array: array[:, 1:]),
    ],
)
def test_a_forged_model_is_refused(name, change, monkeypatch, tmp_path):
    from safetensors.numpy import load, save

    few(monkeypatch)
    make_detector("Relation", lags=3).fit(moving(150, 9)).save(tmp_path)
    arrays = load((tmp_path / "state.safetensors").read_bytes())
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    forge_arrays(tmp_path / "detector.json", save(arrays))
    with pytest.raises(ModelFileError, match=r"array '(group|inputs|mixtures|map)'"):
        axonad.load(tmp_path)


def test_context_has_no_residuals(monkeypatch):
    few(monkeypatch)
    X, Y = moving(150, 9), moving(60, 9, seed=1)
    detector = make_detector("Relation", lags=3, context=("4",)).fit(X)
    expected = detector.expected(np.clip(Y, X.min(axis=0), X.max(axis=0))).value[3:]
    np.testing.assert_allclose(expected[:, 4], np.clip(Y, X.min(axis=0), X.max(axis=0))[3:, 4])
    assert np.isneginf(detector.explain(Y).blame[:, 4]).all()


@pytest.mark.parametrize(("channels", "lags"), [(228, 8), (129, 16), (300, 16), (2049, 0)])
def test_every_channel_is_predicted_once_and_from_no_mixture_of_itself(channels, lags):
    now = np.cov(np.random.default_rng(0).normal(size=(channels, 300)))
    groups = divide(np.array([now] * (lags + 1)))
    assert len(groups) > 1
    targets = np.concatenate([group.targets for group in groups])
    np.testing.assert_array_equal(np.sort(targets), np.arange(channels))
    for group in groups:
        inputs = group.inputs.channels
        np.testing.assert_array_equal(inputs[: len(group.targets)], group.targets)
        assert len(set(inputs.tolist())) == len(inputs) == len(groups[0].inputs.channels)
        assert not group.inputs.mixtures[inputs].any()


@pytest.mark.parametrize(("channels", "lags"), [(1, 8), (227, 8), (128, 64), (1000, 0)])
def test_few_values_are_predicted_from_all(channels, lags):
    assert len(divide(np.array([np.eye(channels)] * (lags + 1)))) == 1


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", VIEWS)
def test_residuals_are_those_of_a_prediction_from_all_channels(view, kind, seed, monkeypatch):
    X = kind(np.random.default_rng(seed), 3000, 40)
    X, Y = X[:2000], X[2000:]
    whole = residual(view, X, Y, lags=2)
    few(monkeypatch, together=16, group=4, mixtures=5, inputs=16, lags=2)
    found = residual(view, X, Y, lags=2)
    assert not np.array_equal(found, whole)
    assert np.mean(found / whole) < WORSE
    assert np.sqrt(np.square(found).sum() / np.square(whole).sum()) < WORSE


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", VIEWS)
def test_residuals_of_many_channels_are_those_of_a_prediction_from_all(view, kind, monkeypatch):
    """The same with the groups that users get."""
    X = kind(np.random.default_rng(2), 6000, 150)
    X, Y = X[:4000], X[4000:]
    monkeypatch.setattr(channel_groups, "WHOLE", 0)
    found = residual(view, X, Y)
    monkeypatch.setattr(channel_groups, "TOGETHER", 150)
    whole = residual(view, X, Y)
    assert np.quantile(found / whole, 0.95) < WORSE
    assert np.mean(found / whole) < WORSE
