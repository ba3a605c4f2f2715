"""A fleet of streams against one session per stream."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad import AxonAD, Fleet, Session, load, make_detector
from axonad.errors import (
    ChannelError,
    ConfigError,
    InputError,
    ModelFileError,
    NotFittedError,
    UnknownNameError,
)
from tests.conftest import SMALL, waves
from tests.fuzz.forging import seal_state
from tests.stream.conftest import NAMES, assert_close, assert_same


@pytest.mark.parametrize("vehicles", [1, 2, 9, 20])
def test_synchronous_vehicles_score_as_alone(fitted, vehicles):
    series = {f"car {i}": waves(24, seed=i) for i in range(vehicles)}
    fleet, alone = Fleet(fitted), {name: Session(fitted) for name in series}
    for t in range(24):
        steps = fleet.push({name: X[t] for name, X in series.items()})
        assert list(steps) == list(series)
        for name, step in steps.items():
            assert_same([step], alone[name].push(series[name][t]))


def test_vehicles_join_leave_wait_are_cut_and_miss_values(fitted):
    rng = np.random.default_rng(0)
    series = {i: waves(200, seed=i) for i in range(6)}
    for X in series.values():
        X[rng.random(X.shape) < 0.03] = np.nan
        X[rng.random(200) < 0.01] = np.nan
    fleet, alone, at = Fleet(fitted, hold_limit=2), {}, dict.fromkeys(series, 0)
    scored = refused = 0
    for t in range(120):
        some = [i for i in series if rng.random() < 0.8 and t > 10 * i and at[i] < 195]
        rows = {}
        for i in some:  # one row, or some
            stop = at[i] + (1 if rng.random() < 0.7 else int(rng.integers(0, 5)))
            rows[i] = series[i][at[i]] if stop == at[i] + 1 else series[i][at[i] : stop]
            at[i] = stop
        steps = fleet.push(rows)
        assert list(steps) == some
        for i in some:
            twin = alone.setdefault(i, Session(fitted, hold_limit=2))
            assert_same([steps[i]], twin.push(rows[i]))
            scored += np.isfinite(steps[i].scores).sum()
            refused += len(steps[i].refused)
        for i in list(alone):
            if rng.random() < 0.005:
                fleet.cut(i)
                alone[i].cut()
            elif rng.random() < 0.005:
                fleet.remove(i)
                del alone[i]
        assert set(fleet.vehicles) == set(alone)
    for i, twin in alone.items():
        assert fleet.counts(i) == twin.counts()
    assert scored > 200
    assert refused > 1


def test_any_causal_detector_can_score_a_fleet():
    detector = make_detector("CrossChannelRidge").fit(waves(300))
    fleet, alone = Fleet(detector), [Session(detector) for _ in range(3)]
    for t in range(detector.history + 5):
        steps = fleet.push({i: waves(80, seed=i)[t] for i in range(3)})
        for i, twin in enumerate(alone):
            assert_same([steps[i]], twin.push(waves(80, seed=i)[t]))
    assert np.isfinite(steps[2].scores).all()


def test_rows_by_name_and_vehicles_by_number(fitted):
    fleet, X = Fleet(fitted), waves(16)
    for row in X:
        steps = fleet.push({np.int64(7): dict(zip(NAMES, row, strict=True)), "seven": row})
    assert_same([steps[7]], steps["seven"])
    assert fleet.vehicles == (7, "seven")
    assert fleet.names == tuple(NAMES)
    assert 7 in fleet
    assert len(fleet) == 2


def test_no_rows_give_no_steps(fitted):
    assert Fleet(fitted).push({}) == {}


def test_a_removed_vehicle_starts_a_new_stream(fitted):
    fleet, X = Fleet(fitted), waves(40)
    for row in X[:20]:
        fleet.push({"a": row, "b": row})
    fleet.remove("a")
    for t, row in enumerate(X[20:36]):
        steps = fleet.push({"a": row, "b": row, "c": row})
        assert np.isnan(steps["a"].scores[0]) == (t < 15)
    assert_same([steps["a"]], steps["c"])
    assert fleet.counts("a")["rows"] == 16


def test_a_refused_row_does_not_stop_the_others(fitted):
    fleet, X = Fleet(fitted, hold_limit=1), waves(40)
    for row in X[:20]:
        fleet.push({"good": row, "bad": row})
    bad = {"speed": 1.0, "torque": 1.0}
    assert fleet.push({"good": X[20], "bad": bad})["bad"].held == {20: ("yaw_rate",)}
    steps = fleet.push({"bad": bad, "good": X[21]})
    (refused,) = steps["bad"].refused
    assert (refused.row, steps["good"].refused) == (21, ())
    assert "channel 'yaw_rate' has been silent" in refused.reason
    assert np.isfinite(steps["good"].scores).all() and np.isnan(steps["bad"].scores).all()
    expected = {"rows": 22, "scored": 6, "held": 1, "refused": 1, "gaps": 0, "repeated": 0}
    assert fleet.counts("bad") == expected


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ({"a": [1.0, 2.0, 3.0], "b": [1.0]}, ChannelError, "vehicle 'b': a row must have 3 values"),
        ({"b": ["x", 2.0, 3.0]}, InputError, "vehicle 'b': a row must hold numbers"),
        ({"b": {"sped": 1.0}}, ChannelError, "vehicle 'b': channel 'sped' not in model; did you"),
        ({("a", 1): [1.0, 2.0, 3.0]}, InputError, "must be a string or an integer, got"),
        ({True: [1.0, 2.0, 3.0]}, InputError, "must be a string or an integer, got True"),
        ({None: [1.0, 2.0, 3.0]}, InputError, "must be a string or an integer, got None"),
        ([[1.0, 2.0, 3.0]], InputError, "a mapping from vehicles to rows, got list"),
    ],
)
def test_rows_that_cannot_be_read_change_nothing(fitted, rows, error, message):
    fleet = Fleet(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    with pytest.raises(error, match=message):
        fleet.push(rows)
    assert fleet.vehicles == ("a",)
    assert fleet.counts("a")["rows"] == 1


def test_each_vehicle_has_its_own_time(timed):
    X, fleet = waves(60, seed=1), Fleet(timed)
    alone = {name: Session(timed) for name in "abc"}
    for t, row in enumerate(X):
        times = {"a": t / 10, "b": t / 10 + (5.0 if t >= 30 else 0.0)}
        if t == 40:
            fleet = Fleet(timed, fleet.state())
            times["b"] -= 100.0
        for name, step in fleet.push(dict.fromkeys("abc", row), times).items():
            assert_same([step], alone[name].push(row, times.get(name)))
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
    fleet = Fleet(fitted)
    with pytest.raises(InputError, match=message):
        fleet.push({"a": [0.0, 0.0, 0.0]}, times)
    assert fleet.vehicles == ()


def test_unknown_vehicles(fitted):
    fleet = Fleet(fitted)
    fleet.push({"car 1": [0.0, 0.0, 0.0]})
    for method in (fleet.remove, fleet.cut, fleet.finish, fleet.counts, fleet.state):
        with pytest.raises(UnknownNameError, match=r"no vehicle 'car1' .*did you mean 'car 1'"):
            method("car1")
    with pytest.raises(UnknownNameError, match="no vehicle 7 among 1 in the fleet"):
        fleet.remove(7)


def test_detectors_that_cannot_stream(small):
    with pytest.raises(NotFittedError):
        Fleet(AxonAD(**small))
    with pytest.raises(ConfigError, match="cannot run live as it was fitted"):
        Fleet(AxonAD.paper(**small).fit(waves(100)))
    with pytest.raises(ConfigError, match="hold_limit must be at least 0, got -1"):
        Fleet(AxonAD(**small).fit(waves(100)), hold_limit=-1)


def test_a_restarted_process_continues(fitted, tmp_path):
    X = waves(60, seed=1)
    fleet = Fleet(fitted, hold_limit=4)
    for t in range(30):
        fleet.push({"a": X[t], 2: X[t + 3]} if t > 20 else {"a": X[t]})
    fitted.save(tmp_path / "model")
    second = Fleet(load(tmp_path / "model"), fleet.state())
    assert second.vehicles == ("a", 2)
    assert second.hold_limit == 4
    assert Fleet(fitted, fleet.state(), hold_limit=1).hold_limit == 1
    for t in range(30, 50):
        rows = {"a": X[t], 2: X[t + 3]}
        for found, expected in zip(
            second.push(rows).values(), fleet.push(rows).values(), strict=True
        ):
            assert_same([found], expected)
    assert second.counts(2) == fleet.counts(2)


def test_states_that_cannot_be_used(fitted):
    fleet = Fleet(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    state = fleet.state()
    with pytest.raises(ModelFileError, match="belongs to another detector"):
        Fleet(AxonAD(**SMALL, seed=1).fit(waves(100)), state)
    document = json.loads(state)
    for broken in (
        {**document, "vehicles": [["a", {}]]},
        {**document, "vehicles": [[None, document["vehicles"][0][1]]]},
        {**document, "vehicles": document["vehicles"] * 2},
        {**document, "vehicles": None},
        {**document, "hold_limit": -1},
    ):
        with pytest.raises(ModelFileError, match="the state is damaged"):
            Fleet(fitted, seal_state(broken))
    with pytest.raises(ModelFileError, match="it is no 'axonad-fleet' document"):
        Fleet(fitted, Session(fitted).state())


def test_states_of_vehicles_go_anywhere_and_damaged_ones_nowhere(fitted):
    fleet = Fleet(fitted)
    fleet.push({"a": [0.0, 0.0, 0.0]})
    state = fleet.state("a")
    document = json.loads(state)
    for change, why in (
        ({"counts": ...}, "entry 'counts' is missing"),
        ({"counts": [1, 2, 0, 0]}, "contradict each other"),
        ({"time": {"last": "soon", "gaps": 0, "repeated": 0}}, "its last time must be"),
    ):
        changed = {k: v for k, v in (document | change).items() if v is not ...}
        with pytest.raises(ModelFileError, match=rf"the state of vehicle 'b' is damaged: .*{why}"):
            fleet.resume("b", seal_state(changed))
        assert fleet.vehicles == ("a",)
    with pytest.raises(InputError, match="vehicle 'a' is in the fleet already; remove it first"):
        fleet.resume("a", state)
    with pytest.raises(InputError, match="must be a string or an integer, got None"):
        fleet.resume(None, state)
    fleet.resume("b", state)
    assert fleet.counts("b") == fleet.counts("a")
    assert Session(fitted, state).counts() == fleet.counts("a")
    fleet.resume("c", Session(fitted, state).state())
    assert fleet.state("c") == state


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
    fleet, clean, refused = Fleet(overflowing), Fleet(overflowing), 0
    whole = {name: [] for name in names}
    for t in range(30):
        with np.errstate(all="ignore"):
            steps = fleet.push({name: X[t] for name, X in series.items()})
        for name, step in steps.items():
            whole[name].append(step)
            assert all("not finite" in one.reason for one in step.refused)
            assert name in spoilt or not step.refused
            refused += len(step.refused)
        others = {name: X[t] for name, X in series.items() if name not in spoilt}
        for name, step in clean.push(others).items():
            assert_same([steps[name]], step)
            assert steps[name].changes == step.changes
    counts = {name: fleet.counts(name) for name in names}
    assert sum(one["refused"] for one in counts.values()) == refused
    assert all(one["rows"] == 30 for one in counts.values())
    with np.errstate(all="ignore"):  # and the same, all rows at once
        at_once = Fleet(overflowing).push(series)
    for name, step in at_once.items():
        assert_same(whole[name], step)


@pytest.mark.gpu
def test_a_fleet_on_a_gpu_scores_as_on_a_cpu(fitted):
    fleet, X = Fleet(fitted), [waves(40, seed=seed) for seed in range(5)]
    moved = Fleet(copy.deepcopy(fitted).set_params(device="cuda"))
    for t in range(40):
        rows = {i: series[t] for i, series in enumerate(X) if (t + i) % 4}
        for found, expected in zip(
            moved.push(rows).values(), fleet.push(rows).values(), strict=True
        ):
            np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-3, atol=1e-3)


def test_attribution_of_a_vehicle_is_that_of_its_last_row(fitted):
    fleet, X = Fleet(fitted), waves(20, seed=1)
    fleet.push({"a": X})
    session = Session(fitted)
    session.push(X)
    assert_close(fleet.attribution("a"), session.attribution())
