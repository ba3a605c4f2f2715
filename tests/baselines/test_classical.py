"""The classical baselines against slow, obvious twins, and what a user would notice of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge
from sklearn.neighbors import LocalOutlierFactor

import axonad
from axonad.baselines._windowed import mean_over_cover, standardise_own
from axonad.baselines.robust_pca import RobustPCA
from axonad.baselines.window_statistics import window_statistics
from axonad.errors import ConfigError, InputError, MissingDependencyError
from axonad.stream import StreamScorer
from tests.conftest import waves

NEED_SKLEARN = ("KMeansAD", "CBLOF", "IForest", "KNN", "LOF", "WindowStatistics")
WINDOWED = ("KMeansAD", "PCA", "CBLOF", "IForest", "EIF", "COPOD", "HBOS", "KNN", "LOF")


def make(name, **params):
    return axonad.make_detector(name, **params)


def fit_and_score(name, X, Y=None, **params):
    return make(name, **params).fit(X).decision_function(X if Y is None else Y)


def noise(rows=120, channels=4, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, channels)) ** 3


def own_units(X):
    return np.array([(row - row.mean()) / row.std(ddof=1) for row in X])


def naive_windows(X, window):
    return np.array([X[i : i + window].T.ravel() for i in range(len(X) - window + 1)])


# -- windows and units -------------------------------------------------------------------------


def test_own_units_hide_the_size_of_a_row_and_leave_constant_rows_at_zero():
    X = np.array([[1.0, 2.0, 4.0], [10.0, 20.0, 40.0], [0.1, 0.1, 0.1]])
    z = standardise_own(X, is_row=True)
    np.testing.assert_allclose(z[:2], own_units(X[:2]))
    np.testing.assert_allclose(z[0], z[1])
    np.testing.assert_array_equal(z[2], 0)


def test_mean_over_cover_is_the_mean_of_all_windows_over_a_step():
    ends = np.random.default_rng(0).random(30)
    expected = [ends[max(0, i - 6) : i + 1].mean() for i in range(36)]
    np.testing.assert_allclose(mean_over_cover(ends, window=7), expected)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("units", ["own", "train", "soft", "raw"])
def test_every_windowed_detector_takes_windows_units_and_places(name, units, tmp_path):
    X, Y = waves(200), waves(90, seed=1)
    detector = make(name, window=6, units=units, align="end").fit(X)
    end = detector.decision_function(Y)
    assert len(end) == 90
    scorer = StreamScorer(detector)
    live = [result.score for row in Y if (result := scorer.push(row))]
    np.testing.assert_allclose(live, end[5:], rtol=1e-6, atol=1e-9)
    detector.save(tmp_path / "m")
    np.testing.assert_array_equal(axonad.load(tmp_path / "m").decision_function(Y), end)
    center = detector.set_params(align="center").decision_function(Y)
    np.testing.assert_array_equal(center[3:-2], end[5:])
    assert len(detector.set_params(align="mean").decision_function(Y)) == 90


@pytest.mark.parametrize("name", [*WINDOWED, "RobustPCA"])
def test_batches_do_not_show(name, monkeypatch):
    X, Y = waves(200), waves(90, seed=1)
    params = {} if name == "RobustPCA" else {"window": 5}
    whole = make(name, **params).fit(X)
    expected, own = whole.decision_function(Y), whole.decision_function(X)
    monkeypatch.setattr("axonad.baselines._windowed.BATCH_VALUES", 170)
    monkeypatch.setattr("axonad.baselines.robust_pca.BLOCK", 17)
    parts = make(name, **params).fit(X)
    np.testing.assert_allclose(parts.decision_function(Y), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(parts.decision_function(X), own, rtol=1e-6, atol=1e-7)


def test_memory_layout_does_not_show():
    X = noise()
    for name in WINDOWED:
        params = {"window": 1}
        expected = fit_and_score(name, np.ascontiguousarray(X), **params)
        np.testing.assert_array_equal(fit_and_score(name, np.asfortranarray(X), **params), expected)


# -- against naive twins -----------------------------------------------------------------------


def test_pca_is_the_distance_to_the_tips_of_the_leading_directions():
    X, Y = noise(300, 5), noise(40, 5, seed=1)
    z = (X - X.mean(0)) / X.std(0)
    new = (Y - X.mean(0)) / X.std(0)
    model = decomposition.PCA(0.6, svd_solver="full").fit(z)
    expected = [
        sum(
            np.linalg.norm(row - tip) / share
            for tip, share in zip(model.components_, model.explained_variance_ratio_, strict=True)
        )
        for row in new
    ]
    assert len(model.components_) > 1
    np.testing.assert_allclose(fit_and_score("PCA", X, Y, directions=0.6), expected)


def test_pca_gives_the_same_for_few_windows_and_for_many():
    X = noise(60, 3)
    few = make("PCA", window=25, directions=3).fit(X)  # 36 windows of 75 values
    z = naive_windows(X, 25)
    z = (z - z.mean(0)) / z.std(0)
    model = decomposition.PCA(3, svd_solver="full").fit(z)
    np.testing.assert_allclose(few._axes, model.components_, atol=1e-8)


def test_pca_leaves_out_what_never_moved():
    X = noise(100, 3)
    still = np.column_stack([X, np.full(100, 0.1)])
    np.testing.assert_allclose(fit_and_score("PCA", still), fit_and_score("PCA", X))


@pytest.mark.parametrize(
    ("method", "pick"), [("mean", np.mean), ("median", np.median), ("largest", np.max)]
)
def test_knn_is_brute_force(method, pick):
    X, Y = noise(), noise(30, seed=1)
    z, new = own_units(X), own_units(Y)
    far = np.sort(np.linalg.norm(new[:, None] - z[None], axis=2), axis=1)[:, :6]
    scores = fit_and_score("KNN", X, Y, neighbours=6, method=method)
    np.testing.assert_allclose(scores, pick(far, axis=1))


def test_knn_never_counts_a_row_as_its_own_neighbour():
    X = noise()
    z = own_units(X)
    far = np.sort(np.linalg.norm(z[:, None] - z[None], axis=2), axis=1)[:, 1:7]
    detector = make("KNN", neighbours=6).fit(X)
    np.testing.assert_allclose(detector.decision_function(X), far.mean(axis=1), atol=1e-7)
    np.testing.assert_array_equal(detector.decision_function(X), detector.decision_scores_)
    later = detector.decision_function(np.vstack([X, X[:1]]))  # another array: all rows are new
    assert later[0] < detector.decision_scores_[0]
    assert later[0] == pytest.approx(later[-1])


def test_copies_of_a_row_are_its_neighbours():
    X = np.repeat(noise(10), 12, axis=0)
    np.testing.assert_allclose(fit_and_score("KNN", X, neighbours=5), 0, atol=1e-7)


def test_lof_is_scikit_learns():
    X, Y = noise(200), noise(30, seed=1)
    model = LocalOutlierFactor(n_neighbors=15, novelty=True).fit(own_units(X))
    detector = make("LOF", neighbours=15).fit(X)
    np.testing.assert_allclose(detector.decision_function(X), -model.negative_outlier_factor_)
    np.testing.assert_allclose(detector.decision_function(Y), -model.score_samples(own_units(Y)))


@pytest.mark.parametrize("name", ["KNN", "LOF"])
def test_the_fitted_array_is_recognised_after_loading(name, tmp_path):
    X = noise()
    detector = make(name, neighbours=5).fit(X)
    detector.save(tmp_path / "m")
    scores = axonad.load(tmp_path / "m").decision_function(X)
    np.testing.assert_array_equal(scores, detector.decision_scores_)


@pytest.mark.parametrize("window", [1, 7])
def test_iforest_is_scikit_learns(window):
    X, Y = noise(500, 5), noise(60, 5, seed=1)
    z, new = (own_units(naive_windows(data, window)) for data in (X, Y))
    model = IsolationForest(n_estimators=8, max_features=0.8, random_state=3).fit(z)
    scores = fit_and_score("IForest", X, Y, trees=8, seed=3, window=window, align="end")
    np.testing.assert_allclose(scores[window - 1 :], -model.score_samples(new))


def test_hbos_is_a_hand_count():
    X = np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])  # two bins of 0.5: three values, two values
    fitted = make("HBOS", bins=2, units="raw").fit(X)
    full, half, least = (-np.log2(d + 0.1) for d in (3 / 5 / 0.5, 2 / 5 / 0.5, 2 / 5 / 0.5))
    new = np.array([[0.05], [0.5], [0.51], [1.2], [-0.2], [1.3], [-9.0]])
    expected = [full, full, half, half, full, least, least]  # 0.5 belongs to the left bin
    np.testing.assert_allclose(fitted.decision_function(new), expected)


def test_copod_is_a_naive_count():
    X, Y = noise(80, 3), noise(20, 3, seed=1)
    X[:, 1] *= -1
    Y[0] = 1e6

    def rarity(count):
        return -np.log(count / 80) if count else np.log(81)

    expected = []
    for row in Y:
        total = 0.0
        for x, column in zip(row, X.T, strict=True):
            left, right = rarity((column <= x).sum()), rarity((column >= x).sum())
            leaning = ((column - column.mean()) ** 3).mean()
            total += max(right if leaning > 0 else left, (left + right) / 2)
        expected.append(total)
    scores = fit_and_score("COPOD", X, Y, units="raw")
    np.testing.assert_allclose(scores, expected)


def test_cblof_sends_a_small_clusters_rows_to_the_nearest_large_one():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.01, size=(n, 2)) for c, n in ((0, 60), (1, 50), (5, 4))])
    scores = fit_and_score("CBLOF", X, units="raw", clusters=3, alpha=0.9)
    np.testing.assert_allclose(scores[-4:], np.linalg.norm(X[-4:] - X[60:110].mean(0), axis=1))
    assert scores[:110].max() < 0.1


def test_kmeans_ad_is_the_distance_to_the_nearest_centre():
    X = waves(150)
    detector = make("KMeansAD", window=8, clusters=3, align="end").fit(X)
    z = own_units(naive_windows(X, 8))
    far = np.linalg.norm(z[:, None] - detector._centers[None], axis=2).min(axis=1)
    np.testing.assert_allclose(detector.decision_function(X)[7:], far, rtol=1e-6)


def naive_pursuit(D, rounds):
    """Principal component pursuit as written down: L, S and the dual Y, a full SVD a round."""
    S, Y = np.zeros_like(D), np.zeros_like(D)
    mu, lam = D.size / (4 * np.abs(D).sum(axis=0).max()), 1 / np.sqrt(max(D.shape))
    for _ in range(rounds):
        u, s, v = np.linalg.svd(D - S + Y / mu, full_matrices=False)
        L = u @ np.diag(np.maximum(s - 1 / mu, 0)) @ v
        rest = D - L + Y / mu
        S = np.sign(rest) * np.maximum(np.abs(rest) - lam / mu, 0)
        Y = Y + mu * (D - L - S)
        if np.linalg.norm(D - L - S) <= 1e-7 * np.linalg.norm(D):
            break
    return L


def test_robust_pca_is_principal_component_pursuit():
    X = waves(80, channels=5)
    X[10, 2] += 5
    L = naive_pursuit(X, rounds=60)
    model = decomposition.PCA(5, svd_solver="full").fit(L)
    expected = np.abs(L - model.transform(L)).sum(axis=1)
    detector = make("RobustPCA", rounds=60).fit(X)
    np.testing.assert_allclose(detector.decision_scores_, expected, rtol=1e-6)
    np.testing.assert_allclose(detector.decision_function(X[::-1])[::-1], expected, rtol=1e-6)


def test_eif_ranks_a_far_row_first_and_copies_alike():
    X = np.vstack([np.cbrt(noise(300, 3)), [[9.0, -9.0, 9.0]], [[9.0, -9.0, 9.0]]])
    scores = fit_and_score("EIF", X, units="train")
    assert scores.argmax() >= 300
    assert scores[300] == scores[301]
    assert ((scores > 0) & (scores < 1)).all()


def test_window_statistics_are_those_of_each_window():
    X = noise(60, 2)
    for length in (2, 7, 16, 21):
        found = window_statistics(X, length)
        for i in range(60 - length + 1):
            part = X[i : i + length]
            low, high = part.min(0), part.max(0)
            expected = np.concatenate([part.mean(0), part.std(0), high, low, high - low])
            np.testing.assert_allclose(found[i], expected, atol=1e-6)


# -- the four of our own -----------------------------------------------------------------------


def test_control_chart_sees_a_small_shift_that_no_single_row_shows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2000, 3)), rng.normal(size=(600, 3))
    Y[300:] += 1.0
    slow = make("ControlChart", memory=0.9).fit(X)
    scores = slow.decision_function(Y)
    assert np.median(scores[370:]) > np.quantile(scores[:300], 0.99)
    alone = fit_and_score("ControlChart", X, Y, memory=0.0)
    assert np.median(alone[370:]) < np.quantile(alone[:300], 0.99)
    moved = rng.normal(size=(600, 3))
    moved[300:, 1] += 3
    strongest = max(slow.events(moved, gap=50), key=lambda event: event.score)
    assert strongest.channels[0] == "1"


def test_ridge_finds_broken_coordination_that_stays_in_range():
    rng = np.random.default_rng(0)
    speed = np.cumsum(rng.normal(size=3000)) / 10
    X = np.column_stack([speed, 2 * speed + 3, -speed]) + 0.05 * rng.normal(size=(3000, 3))
    train, Y = X[:2000], X[2000:].copy()
    Y[500:520, 1] = 2 * Y[500:520, 0] + 3 + 1.5  # well within what the channel has done before
    assert Y[500:520, 1].max() < train[:, 1].max()
    detector = make("CrossChannelRidge").fit(train)
    scores = detector.decision_function(Y)
    assert scores[500:520].min() > np.delete(scores, range(500, 520)).max()
    event = max(detector.events(Y), key=lambda event: event.score)
    assert (event.start, event.end) == (500, 520)
    assert event.channels[0] == "1"


def test_ridge_residuals_are_those_of_separate_regressions():
    X = waves(300, channels=4)
    detector = make("CrossChannelRidge", penalty=0.05).fit(X)
    z = (X - detector._center) / detector._unit
    left = z @ detector._map
    for j in range(4):
        others = np.delete(z, j, axis=1)
        model = Ridge(alpha=0.05 * len(z), fit_intercept=False).fit(others, z[:, j])
        np.testing.assert_allclose(left[:, j], z[:, j] - model.predict(others), atol=1e-9)


def test_ridge_of_one_channel_is_the_deviation_from_its_mean():
    X = noise(200, 1)
    scores = fit_and_score("CrossChannelRidge", X)
    order = np.argsort(np.abs(X[:, 0] - np.median(X[:, 0])))
    assert (np.diff(scores[order]) >= -1e-9).all()


def test_window_statistics_finds_a_stretch_gone_quiet():
    X, Y = waves(2000), waves(800, seed=1)
    Y[400:480] = Y[400]  # every value normal, nothing moves
    detector = make("WindowStatistics", lengths=(16, 64)).fit(X)
    scores = detector.decision_function(Y)
    assert scores[420:460].min() > np.delete(scores, range(330, 550)).max()
    assert detector.labels_.mean() < 0.01


def test_random_scores_do_not_depend_on_what_comes_later():
    scores = fit_and_score("RandomScore", noise())
    np.testing.assert_array_equal(scores[:40], fit_and_score("RandomScore", noise(40, seed=1)))
    assert len(set(scores)) == 120
    assert not np.array_equal(scores, fit_and_score("RandomScore", noise(), seed=1))


# -- samples, dependencies, parameters ---------------------------------------------------------


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


def test_a_sampled_neighbour_search_leaves_out_the_row_itself():
    X = noise(300)
    kept = make("KNN", neighbours=5, max_train=100).fit(X)
    assert kept._reference.shape == (100, 4)
    assert (kept.decision_scores_ > 1e-6).all()


def test_robust_pca_sends_new_rows_through_the_same_rounds():
    X = waves(400)
    whole, sampled = RobustPCA(rounds=80).fit(X), RobustPCA(rounds=80, max_train=399).fit(X)
    np.testing.assert_allclose(
        sampled.decision_scores_, whole.decision_scores_, rtol=0.05, atol=0.05
    )


@pytest.mark.parametrize("name", NEED_SKLEARN)
def test_a_missing_scikit_learn_says_what_to_install(name, monkeypatch):
    for module in ("cluster", "tree", "neighbors", "utils.random"):
        monkeypatch.setitem(sys.modules, f"sklearn.{module}", None)
    with pytest.raises(
        MissingDependencyError,
        match=rf"{name} needs scikit-learn; .* pip install 'axonad\[baselines\]'",
    ):
        make(name).fit(waves(300))


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("KNN", {"window": 0}, "window must be at least 1, got 0"),
        ("KNN", {"units": "rwo"}, "units must be one of .* got 'rwo'"),
        ("KNN", {"align": "start"}, "align must be one of 'center', 'end', 'mean', got 'start'"),
        ("KNN", {"method": "max"}, "method must be one of 'mean', 'median', 'largest'"),
        ("LOF", {"neighbours": 0}, "neighbours must be at least 1, got 0"),
        ("LOF", {"max_train": 1}, "max_train must be at least 2, got 1"),
        ("PCA", {"directions": 1.5}, "directions must be below 1, got 1.5"),
        ("PCA", {"directions": 0}, "directions must be at least 1, got 0"),
        ("CBLOF", {"clusters": 1}, "clusters must be at least 2, got 1"),
        ("CBLOF", {"beta": 1.0}, "beta must be above 1, got 1.0"),
        ("IForest", {"features": 1.2}, "features must be at most 1, got 1.2"),
        ("EIF", {"samples": 1}, "samples must be at least 2, got 1"),
        ("HBOS", {"bins": 1}, "bins must be at least 2, got 1"),
        ("RobustPCA", {"rounds": 0}, "rounds must be at least 1, got 0"),
        ("ControlChart", {"memory": 1.0}, "memory must be at most 0.999, got 1.0"),
        ("CrossChannelRidge", {"penalty": 0.0}, "penalty must be above 0, got 0.0"),
        ("WindowStatistics", {"lengths": 16}, "lengths must be a tuple of integers, got 16"),
        ("RandomScore", {"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_impossible_parameters_are_refused(name, params, message):
    with pytest.raises(ConfigError, match=message):
        make(name, **params)


@pytest.mark.parametrize("name", ["KNN", "LOF", "PCA"])
def test_a_single_row_is_too_little(name):
    with pytest.raises(InputError, match=f"{name} with window=1 needs at least 2 training rows"):
        make(name).fit(waves(1))


def test_hbos_takes_a_channel_that_moves_by_rounding_alone():
    X = waves(300)
    X[:, 1] = 1.0 + np.where(np.arange(300) % 2, 0.0, np.finfo(float).eps)
    detector = axonad.make_detector("HBOS", units="raw").fit(X)
    assert np.isfinite(detector.decision_function(X)).all()


@pytest.mark.parametrize("align", ["center", "end"])
def test_ridge_smoothed_over_rows_equals_its_naive_twin(align):
    X, Y = waves(300), waves(120, seed=1)
    plain = axonad.make_detector("CrossChannelRidge").fit(X)
    far = plain.explain(Y).blame
    smooth = axonad.make_detector("CrossChannelRidge", smooth=7, align=align).fit(X)
    expected = [np.sqrt((far[i : i + 7] ** 2).mean(axis=0)).max() for i in range(len(Y) - 6)]
    found = smooth.decision_function(Y)
    first = 3 if align == "center" else 6
    np.testing.assert_allclose(found[first : first + len(expected)], expected, rtol=1e-9)
    scorer = StreamScorer(smooth)
    live = [r.score for row in Y if (r := scorer.push(row)) is not None]
    np.testing.assert_allclose(live, expected, rtol=1e-9)
