"""Data that lacks channels of the model."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad.alarms.recalibrate import recalibrate
from axonad.data.series import Series
from axonad.data.vehicle import SENSORS, simulate_drive
from axonad.errors import ChannelError, ConfigError
from axonad.registry import REGISTRY, detector_class
from axonad.without_channels import ABLE
from tests.conftest import waves

pytestmark = pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")

NAMES = tuple(sensor.name for sensor in SENSORS)
MISSING = ("vehicle_speed", "yaw_rate")
LEFT = tuple(name for name in NAMES if name not in MISSING)


def drive(seed, steps=6_000):
    values = simulate_drive(steps, np.random.default_rng(seed))
    return Series(values=values, channels=NAMES, times=np.arange(steps) / 10)


@pytest.fixture(scope="module")
def detector():
    made = axonad.make_detector("CrossChannelRidge", context=("coolant_temperature",))
    made.fit([drive(1), drive(2)])
    setup, _ = recalibrate(made, [drive(3), drive(4)], budget="2 per hour")
    made.set_alarms(setup)
    return made


def test_false_alarms_stay_few_and_faults_are_found(detector):
    """On two drives of ten minutes; with all channels there are at most three events."""
    reduced = detector.without(MISSING)
    assert reduced.channel_names == LEFT
    assert reduced.context == ("coolant_temperature",)
    assert len(reduced.alarm_setup_.rules.low) == len(LEFT)
    tests = [drive(seed) for seed in (11, 12)]
    before = sum(len(detector.events(each)) for each in tests)
    found = sum(len(reduced.events(each.keep(LEFT))) for each in tests)
    assert found <= before + 2, (found, before)
    faulty = tests[0].keep(LEFT)
    values = faulty.values.copy()
    values[3_000:3_100, LEFT.index("lateral_accel")] += 6.0
    events = reduced.events(Series(values=values, channels=LEFT, times=faulty.times), why=True)
    assert any(e.start < 3_100 and e.end > 3_000 and "lateral_accel" in e.why.channels
               for e in events)  # fmt: skip


def test_it_is_saved_and_streamed_as_any_other(detector, tmp_path):
    reduced = detector.without(["yaw_rate"])
    reduced.save(tmp_path / "m")
    rows = drive(11, 400).keep(reduced.channel_names)
    again = axonad.load(tmp_path / "m")
    np.testing.assert_array_equal(again.decision_function(rows), reduced.decision_function(rows))
    assert detector.without(["yaw_rate"]).fingerprint == reduced.fingerprint, "the same every time"
    live = axonad.Session(reduced).push(rows.values).scores
    np.testing.assert_allclose(live, reduced.decision_function(rows))
    assert detector.without([]) is detector


def test_a_view_that_cannot_is_left_out():
    data = Series(values=waves(600, 4), channels=("a", "b", "c", "d"))
    few = {"views": ("forecast", "relation", "network"), "window": 16, "d_model": 16, "heads": 2,
           "epochs": 1, "self_tested": False, "verbose": False, "device": "cpu"}  # fmt: skip
    made = axonad.MultiView(**few).fit(data)
    reduced = made.without(["c"])
    assert set(reduced.views_) == {"forecast", "relation"}
    normal = Series(values=waves(600, 4, seed=3), channels=data.channels).keep("abd")
    assert np.mean(reduced.predict(normal)) < 0.01
    alone = axonad.MultiView(**few | {"views": ("network",)}).fit(data)
    with pytest.raises(ConfigError, match="a MultiView with the network alone cannot score"):
        alone.without(["c"])


def test_who_cannot_says_who_can(fitted, detector):
    with pytest.raises(ConfigError, match=r"AxonAD cannot score without 'speed', .* MultiView, Re"):
        fitted.without(["speed"])
    with pytest.raises(ChannelError, match="'yaw_rat' not in model; did you mean 'yaw_rate'"):
        detector.without(["yaw_rat"])
    with pytest.raises(ChannelError, match="no channel is left to judge"):
        detector.without([name for name in NAMES if name != "coolant_temperature"])
    with pytest.raises(ChannelError, match="must be a list of channel names"):
        detector.without("yaw_rate")
    able = [entry.name for entry in REGISTRY if detector_class(entry.name).can_score_without]
    assert set(able) == set(ABLE)
