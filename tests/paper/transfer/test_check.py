from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from axonad.errors import ConfigError, InputError, UnknownNameError
from axonad.paper.transfer.check import (
    RIDGE,
    Segment,
    check_transfer,
    dataset_features,
    leave_one_out_mahalanobis,
    nearest_neighbours,
    percentile,
    shrunk_covariance,
    standardise,
)
from axonad.paper.transfer.features import summary_features
from tests.conftest import waves


def cloud(sets: int = 12, features: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sets, features)) @ rng.normal(size=(features, features)) + 3


def named(values: np.ndarray) -> dict[str, dict[str, float]]:
    return {
        f"set_{i}": {f"f{j}": float(value) for j, value in enumerate(row)}
        for i, row in enumerate(values)
    }


def naive_covariance(rows: np.ndarray) -> np.ndarray:
    """Chen et al. 2010, Eq. 23 without its 2/p, as scikit-learn has it; entry by entry."""
    n, p = rows.shape
    mean = [sum(rows[:, j]) / n for j in range(p)]
    S = np.zeros((p, p))
    for a in range(p):
        for b in range(p):
            S[a, b] = sum((row[a] - mean[a]) * (row[b] - mean[b]) for row in rows) / n
    trace, trace_of_square = np.trace(S), np.trace(S @ S)
    rho = (trace_of_square + trace**2) / ((n + 1) * (trace_of_square - trace**2 / p))
    rho = min(1.0, rho)
    return (1 - rho) * S + rho * trace / p * np.eye(p) + RIDGE * np.eye(p)


def naive_mahalanobis(z: np.ndarray) -> list[float]:
    distances = []
    for i in range(len(z)):
        others = np.array([row for j, row in enumerate(z) if j != i])
        gap = z[i] - sum(others) / len(others)
        distances.append(float(np.sqrt(gap @ np.linalg.inv(naive_covariance(others)) @ gap)))
    return distances


@pytest.mark.parametrize(("sets", "features"), [(12, 4), (8, 17), (3, 5), (40, 2)])
def test_mahalanobis_equals_its_naive_twin(sets, features):
    z, _ = standardise(cloud(sets, features, seed=sets))
    np.testing.assert_allclose(leave_one_out_mahalanobis(z), naive_mahalanobis(z), rtol=1e-6)


@pytest.mark.parametrize(("sets", "features"), [(2, 9), (7, 17), (54, 17), (500, 3)])
def test_shrinkage_is_the_one_of_scikit_learn(sets, features):
    from sklearn.covariance import oas

    rows = cloud(sets, features)
    expected = oas(rows)[0] + RIDGE * np.eye(features)
    np.testing.assert_allclose(shrunk_covariance(rows), expected, rtol=1e-8, atol=1e-10)


def test_nearest_neighbours_equal_their_naive_twin():
    z = cloud(9, 4)
    distance, index = nearest_neighbours(z)
    for i, row in enumerate(z):
        found = sorted((np.linalg.norm(row - other), j) for j, other in enumerate(z) if j != i)
        assert (distance[i], index[i]) == (pytest.approx(found[0][0]), found[0][1])


def test_percentile_is_the_share_of_others_with_a_smaller_distance():
    distances = np.array([4.0, 1.0, 2.0, 2.0, 9.0])
    assert [percentile(distances, i) for i in range(5)] == [75, 0, 25, 25, 100]


def test_an_obvious_outlier_has_the_largest_distances():
    values = cloud()
    values[4] = values.mean(axis=0) + 40 * values.std(axis=0)
    found = check_transfer(named(values), "set_4")
    assert (found.mahalanobis_percentile, found.neighbour_percentile) == (100, 100)
    assert found.ranking[0].name == "set_4"


def test_an_outlier_in_one_feature_is_named():
    values = cloud(30, 6)
    values[4, 2] += 50
    found = check_transfer(named(values), "set_4")
    assert found.mahalanobis_percentile == 100
    assert next(iter(found.z)) == "f2"
    assert [abs(z) for z in found.z.values()] == sorted(map(abs, found.z.values()), reverse=True)


def test_an_unusual_combination_of_usual_values_is_an_outlier():
    first = np.linspace(-2, 2, 40)
    values = np.column_stack([first, first + 0.1 * np.random.default_rng(0).normal(size=40)])
    values[20] = [1.0, -1.0]
    found = check_transfer(named(values), "set_20")
    assert max(map(abs, found.z.values())) < 1.1
    assert found.mahalanobis_percentile == 100


def test_a_twin_of_the_centre_is_the_most_ordinary():
    values = cloud()
    values[7] = np.delete(values, 7, axis=0).mean(axis=0)
    assert check_transfer(named(values), "set_7").mahalanobis_percentile == 0
    values[7] = values[3] + 1e-6
    found = check_transfer(named(values), "set_7")
    assert (found.nearest, found.neighbour_percentile) == ("set_3", 0)


def test_units_of_features_and_order_of_sets_do_not_matter():
    values = cloud(10, 5)
    plain = check_transfer(named(values), "set_2")
    other = named(values * [1e-6, 1, -7, 1e5, 1] + [1, 1e-3, 0, 9, 0])
    moved = check_transfer(dict(reversed(other.items())), "set_2")
    assert plain.mahalanobis_percentile == moved.mahalanobis_percentile
    assert plain.nearest == moved.nearest
    for a, b in zip(plain.ranking, moved.ranking, strict=True):
        assert (a.name, a.nearest) == (b.name, b.nearest)
        assert a.mahalanobis == pytest.approx(b.mahalanobis)
        assert a.neighbour_distance == pytest.approx(b.neighbour_distance)


def test_the_result_repeats_and_the_ranking_is_whole():
    sets = named(cloud())
    found = check_transfer(sets, "set_0")
    assert dataclasses.asdict(found) == dataclasses.asdict(check_transfer(sets, "set_0"))
    assert {place.name for place in found.ranking} == set(sets)
    distances = [place.mahalanobis for place in found.ranking]
    assert distances == sorted(distances, reverse=True)


def test_a_feature_that_is_the_same_everywhere_is_dropped():
    values = cloud()
    plain = check_transfer(named(values), "set_1")
    still = named(np.column_stack([values, np.full(len(values), 0.1)]))
    found = check_transfer(still, "set_1")
    assert found.dropped == ("f6",)
    assert found.z == pytest.approx(plain.z)
    distances = {place.name: place.mahalanobis for place in plain.ranking}
    assert {p.name: p.mahalanobis for p in found.ranking} == pytest.approx(distances)


def test_three_sets_of_which_two_agree():
    found = check_transfer(named(np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 2.0]])), "set_2")
    assert found.mahalanobis_percentile == found.neighbour_percentile == 100
    assert all(np.isfinite(place.mahalanobis) for place in found.ranking)


def segments():
    for i in range(6):
        yield Segment(f"data_{i // 2}", f"series_{i}", waves(200 + i, seed=i) * (i + 1))


def test_features_by_series_and_by_data_set():
    series = dataset_features(segments(), by="series")
    assert list(series) == [f"series_{i}" for i in range(6)]
    assert series["series_3"] == summary_features(waves(203, seed=3) * 4)
    sets = dataset_features(segments())
    assert list(sets) == ["data_0", "data_1", "data_2"]
    expected = np.mean([series["series_2"]["scale.std"], series["series_3"]["scale.std"]])
    assert sets["data_1"]["scale.std"] == pytest.approx(expected)
    assert check_transfer(sets, "data_2").target == "data_2"


def test_bad_input_is_refused_in_one_sentence():
    sets = named(cloud(4, 2))
    with pytest.raises(InputError, match="needs at least 3 data sets, got 2"):
        check_transfer({name: sets[name] for name in ("set_0", "set_1")}, "set_0")
    with pytest.raises(UnknownNameError, match="no data set 'sets_3'; did you mean 'set_3'"):
        check_transfer(sets, "sets_3")
    with pytest.raises(UnknownNameError, match="no data set 'X'; expected one of set_0, set_1"):
        check_transfer(sets, "X")
    with pytest.raises(InputError, match="feature 'f1' of data set 'set_2' must be finite, got n"):
        check_transfer({**sets, "set_2": {"f0": 1.0, "f1": np.nan}}, "set_0")
    with pytest.raises(InputError, match="but only one of them has f1"):
        check_transfer({**sets, "set_2": {"f0": 1.0}}, "set_0")
    with pytest.raises(InputError, match="the 4 data sets do not differ in any feature"):
        check_transfer(named(np.ones((4, 2))), "set_0")
    with pytest.raises(ConfigError, match="by must be one of dataset, series, got 'file'"):
        dataset_features(segments(), by="file")
    with pytest.raises(InputError, match="series 'series_0' appears more than once"):
        dataset_features([*segments(), *segments()], by="series")


def test_generated_telemetry_among_real_series(shared_data):
    from axonad.data.telemetry import generate_telemetry
    from axonad.data.tsb_ad import list_series, read_series

    source = shared_data / "TSB-AD-M-dev.zip"
    names = [name for name in list_series(source) if name.is_tuning]
    real = [
        Segment(name.dataset, name.file, series.values[: name.train_rows])
        for name, series in zip(names, read_series(source, names), strict=True)
    ]
    drive = Segment("telemetry", "telemetry", generate_telemetry(steps=20_000).train)
    found = check_transfer(dataset_features([*real, drive], by="series"), "telemetry")
    assert len(found.ranking) == 11
    assert found.nearest in {name.file for name in names}
