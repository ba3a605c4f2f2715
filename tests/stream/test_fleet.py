"""A fleet of streams against one scorer per stream."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad import AxonAD, FleetScorer, StreamScorer, load, make_detector
from axonad.errors import (
    ChannelError,
    ConfigError,
    InputError,
    ModelFileError,
    NotFittedError,
    StaleError,
    UnknownNameError,
)
from tests.conftest import SMALL, waves
from tests.fuzz.forging import seal
from tests.stream.conftest import NAMES, assert_close


def same(found, expected):
    """Compare two results or two Nones."""
    if expected is None:
        assert found is None
        return
    assert (found.step, found.alarm, found.held) == (expected.step, expected.alarm, expected.held)
    assert_close(found.score, expected.score)
    assert list(found.components) == list(expected.components)
    assert_close(list(found.components.values()), list(expected.components.values()))


@pytest.mark.parametrize("vehicles", [1, 2, 9, 20])
def test_synchronous_vehicles_score_as_alone(fitted, vehicles):
    series = {f"car {i}": waves(24, seed=i) for i in range(vehicles)}
    fleet, alone = FleetScorer(fitted), {name: StreamScorer(fitted) for name in series}
    for t in range(24):
        results = fleet.push({name: X[t] for name, X in series.items()})
        assert list(results) == list(series)
        for name, result in results.items():
            same(result, alone[name].push(series[name][t]))


def test_vehicles_join_leave_wait_reset_and_miss_values(fitted):
    rng = np.random.default_rng(0)
    series = {i: waves(200, seed=i) for i in range(6)}
    for X in series.values():
        X[rng.random(X.shape) < 0.03] = np.nan
        X[rng.random(200) < 0.01] = np.nan
    fleet, alone = FleetScorer(fitted, hold_limit=2), {}
    scored = refused = 0
    for t in range(200):
        some = [i for i in series if rng.random() < 0.8 and t > 10 * i]
        try:
            results, stale = fleet.push({i: series[i][t] for i in some}), {}
        except StaleError as error:
            results, stale = error.results, error.refused
        assert {*results, *stale} == set(some)
        for i in some:
            twin = alone.setdefault(i, StreamScorer(fitted, hold_limit=2))
            if i in stale:
                with pytest.raises(StaleError) as caught:
                    twin.push(series[i][t])
                assert stale[i] == str(caught.value)
                refused += 1
            else:
                same(results[i], twin.push(series[i][t]))
                scored += results[i] is not None
        for i in list(alone):
            if rng.random() < 0.005:
                fleet.reset(i)
                alone[i].reset()
            elif rng.random() < 0.005:
                fleet.remove(i)
                del alone[i]
        assert set(fleet.vehicles) == set(alone)
    for i, twin in alone.items():
        counted = ("rows", "scored", "held", "refused", "gaps", "repeated")
        assert fleet.counts(i) == {name: getattr(twin, name) for name in counted}
    assert scored > 300
    assert refused > 1


def test_any_causal_detector_can_score_a_fleet():
    detector = make_detector("CrossChannelRidge").fit(waves(300))
    fleet, alone = FleetScorer(detector), [StreamScorer(detector) for _ in range(3)]
    for t in range(detector.history + 5):
        results = fleet.push({i: waves(80, seed=i)[t] for i in range(3)})
        for i, twin in enumerate(alone):
            same(results[i], twin.push(waves(80, seed=i)[t]))
    assert results[2] is not None


def test_rows_by_name_and_vehicles_by_number(fitted):
    fleet, X = FleetScorer(fitted), waves(16)
    for row in X:
        results = fleet.push({np.int64(7): dict(zip(NAMES, row, strict=True)), "seven": row})
    same(results[7], results["seven"])
    assert fleet.vehicles == (7, "seven")
    assert fleet.names == tuple(NAMES)
    assert 7 in fleet
    assert len(fleet) == 2


def test_no_rows_give_no_results(fitted):
    assert FleetScorer(fitted).push({}) == {}


def test_a_removed_vehicle_starts_a_new_stream(fitted):
    fleet, X = FleetScorer(fitted), waves(40)
    for row in X[:20]:
        fleet.push({"a": row, "b": row})
    fleet.remove("a")
    for t, row in enumerate(X[20:36]):
        results = fleet.push({"a": row, "b": row, "c": row})
        assert (results["a"] is None) == (t < 15)
    same(results["a"], results["c"])
    assert fleet.counts("a")["rows"] == 16


def test_a_refused_row_does_not_stop_the_others(fitted):
    fleet, X = FleetScorer(fitted, hold_limit=1), waves(40)
    for row in X[:20]:
        fleet.push({"good": row, "bad": row})
    bad = {"speed": 1.0, "torque": 1.0}
    assert fleet.push({"good": X[20], "bad": bad})["bad"].held == ("yaw_rate",)
    with pytest.raises(
        StaleError, match="vehicle 'bad': channel 'yaw_rate' has been silent"
    ) as caught:
        fleet.push({"bad": bad, "good": X[21]})
    assert list(caught.value.refused) == ["bad"]
    assert caught.value.results["good"].step == 21
    expected = {"rows": 22, "scored": 6, "held": 1, "refused": 1, "gaps": 0, "repeated": 0}
    assert fleet.counts("bad") == expected
    many = {f"v{i}": [None] * 3 for i in range(7)}
    with pytest.raises(StaleError, match=r"'v4': .* no earlier one to hold; and 2 more"):
        fleet.push(many)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ({"a": [1.0, 2.0, 3.0], "b": [1.0]}, ChannelError, "vehicle 'b': a row must have 3 values"),
        ({"b": ["x", 2.0, 3.0]}, InputError, "vehicle 'b': a row must hold numbers"),
        ({"b": {"sped": 1.0}}, ChannelError, "vehicle 'b': channel 'sped' not in model; did you"),
        ({("a", 1): [1.0, 2.0, 3.0]}, InputError, "must be a string or an integer, got"),
        ({True: [1.0, 2.0, 3.0]}, InputError, "must be a string or an integer, got True"),
        ([[1.0, 2.0, 3.0]], InputError, "a mapping from vehicles to rows, got list"),
    ],
)
def test_rows_that_cannot_be_read_change_nothing(fitted, rows, error, message):
    fleet = FleetScorer(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    with pytest.raises(error, match=message):
        fleet.push(rows)
    assert fleet.vehicles == ("a",)
    assert fleet.counts("a")["rows"] == 1


def test_each_vehicle_has_its_own_time(timed, tmp_path):
    X, fleet = waves(60, seed=1), FleetScorer(timed)
    alone = {name: StreamScorer(timed) for name in "abc"}
    for t, row in enumerate(X):
        times = {"a": t / 10, "b": t / 10 + (5.0 if t >= 30 else 0.0)}
        if t == 40:
            fleet.save(tmp_path / "fleet.json")
            fleet = FleetScorer.restore(tmp_path / "fleet.json", timed)
            times["b"] -= 100.0
        results = fleet.push(dict.fromkeys("abc", row), times)
        for name, result in results.items():
            same(result, alone[name].push(row, times.get(name)))
    assert [fleet.counts(name)["gaps"] for name in "abc"] == [0, 3, 0]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1.0], "times must be a mapping from vehicles to times, got list"),
        ({"b": 1.0}, "times has vehicle 'b', which has no row"),
        ({"a": "soon"}, "vehicle 'a': a time must be a number of seconds"),
    ],
)
def test_times_that_cannot_be_read_change_nothing(fitted, times, message):
    fleet = FleetScorer(fitted)
    with pytest.raises(InputError, match=message):
        fleet.push({"a": [0.0, 0.0, 0.0]}, times)
    assert fleet.vehicles == ()


def test_unknown_vehicles(fitted):
    fleet = FleetScorer(fitted)
    fleet.push({"car 1": [0.0, 0.0, 0.0]})
    for method in (fleet.remove, fleet.reset, fleet.counts):
        with pytest.raises(UnknownNameError, match=r"no vehicle 'car1' .*did you mean 'car 1'"):
            method("car1")
    with pytest.raises(UnknownNameError, match="no vehicle 7 among 1 in the fleet"):
        fleet.remove(7)


def test_detectors_that_cannot_stream(small):
    with pytest.raises(NotFittedError):
        FleetScorer(AxonAD(**small))
    with pytest.raises(ConfigError, match="cannot run live as it was fitted"):
        FleetScorer(AxonAD.paper(**small).fit(waves(100)))
    with pytest.raises(ConfigError, match="hold_limit must be at least 0, got -1"):
        FleetScorer(AxonAD(**small).fit(waves(100)), hold_limit=-1)


def test_a_restarted_process_continues(fitted, tmp_path):
    X = waves(60, seed=1)
    fleet = FleetScorer(fitted, hold_limit=4)
    for t in range(30):
        fleet.push({"a": X[t], 2: X[t + 3]} if t > 20 else {"a": X[t]})
    fleet.save(tmp_path / "fleet.json")
    fitted.save(tmp_path / "model")
    second = FleetScorer.restore(tmp_path / "fleet.json", load(tmp_path / "model"))
    assert second.vehicles == ("a", 2)
    assert second.hold_limit == 4
    for t in range(30, 50):
        rows = {"a": X[t], 2: X[t + 3]}
        for found, expected in zip(
            second.push(rows).values(), fleet.push(rows).values(), strict=True
        ):
            same(found, expected)
    assert second.counts(2) == fleet.counts(2)


def test_state_files_that_cannot_be_used(fitted, tmp_path):
    path = tmp_path / "fleet.json"
    fleet = FleetScorer(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    fleet.save(path)
    with pytest.raises(ModelFileError, match="belongs to another detector"):
        FleetScorer.restore(path, AxonAD(**SMALL, seed=1).fit(waves(100)))
    document = json.loads(path.read_text())
    for broken in (
        {**document, "vehicles": [["a", {}]]},
        {**document, "vehicles": [[None, document["vehicles"][0][1]]]},
        {**document, "vehicles": document["vehicles"] * 2},
        {**document, "vehicles": None},
        {**document, "hold_limit": -1},
    ):
        path.write_text(seal(broken))
        with pytest.raises(ModelFileError, match="is damaged"):
            FleetScorer.restore(path, fitted)
    StreamScorer(fitted).save(path, overwrite=True)
    with pytest.raises(ModelFileError):
        FleetScorer.restore(path, fitted)


def test_states_of_vehicles_that_cannot_be_used(fitted):
    fleet = FleetScorer(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    state = fleet.state_of("a")
    for broken, why in (
        ({}, "entry 'counts' is missing"),
        ([], "list indices"),
        (None, "not subscriptable"),
        ({**state, "counts": [1, 2, 0, 0]}, "contradict each other"),
        ({**state, "time": {"last": "soon", "gaps": 0, "repeated": 0}}, "its last time must be"),
    ):
        with pytest.raises(ModelFileError, match=rf"the state of vehicle 'b' is damaged: .*{why}"):
            fleet.resume("b", broken)
        assert fleet.vehicles == ("a",)
    with pytest.raises(InputError, match="vehicle 'a' is in the fleet already; remove it first"):
        fleet.resume("a", state)
    with pytest.raises(InputError, match="must be a string or an integer, got None"):
        fleet.resume(None, state)
    with pytest.raises(UnknownNameError, match="no vehicle 'b'"):
        fleet.state_of("b")
    fleet.resume("b", state)
    assert fleet.counts("b") == fleet.counts("a")


@pytest.fixture(scope="module")
def overflowing():
    """A detector whose scores overflow, with alarms."""
    detector = make_detector("PCA", window=4, units="raw", alarm_budget="2 per 100 steps")
    return detector.fit(waves(300))


@settings(max_examples=15, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 29)), max_size=12))
def test_a_vehicle_without_a_finite_score_does_not_harm_the_others(overflowing, bad):
    names = ["a", "b", "c", "d"]
    series = {name: waves(30, seed=seed) for seed, name in enumerate(names)}
    for vehicle, t in bad:
        series[names[vehicle]][t] = [1e200, -1e200, 1e200]
    spoilt = {names[vehicle] for vehicle, _ in bad}
    fleet, clean, refused = FleetScorer(overflowing), FleetScorer(overflowing), 0
    for t in range(30):
        with np.errstate(all="ignore"):
            try:
                results = fleet.push({name: X[t] for name, X in series.items()})
            except StaleError as error:
                results = error.results
                assert set(error.refused) <= spoilt and set(error.refused).isdisjoint(results)
                assert all("not finite" in why for why in error.refused.values())
                refused += len(error.refused)
        others = {name: X[t] for name, X in series.items() if name not in spoilt}
        assert {name: results[name] for name in others} == clean.push(others)
    counts = {name: fleet.counts(name) for name in names}
    assert sum(one["refused"] for one in counts.values()) == refused
    assert all(one["rows"] == 30 for one in counts.values())
    kept = [change for change in fleet.take_changes() if change.event.vehicle not in spoilt]
    assert kept == clean.take_changes()


@pytest.mark.gpu
def test_a_fleet_on_a_gpu_scores_as_on_a_cpu(fitted):
    fleet, X = FleetScorer(fitted), [waves(40, seed=seed) for seed in range(5)]
    moved = FleetScorer(copy.deepcopy(fitted).set_params(device="cuda"))
    for t in range(40):
        rows = {i: series[t] for i, series in enumerate(X) if (t + i) % 4}
        for found, expected in zip(
            moved.push(rows).values(), fleet.push(rows).values(), strict=True
        ):
            assert (found is None) == (expected is None)
            if found is not None:
                np.testing.assert_allclose(found.score, expected.score, rtol=1e-3, atol=1e-3)
