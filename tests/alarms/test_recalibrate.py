"""From a fitted detector to its alarms: versions, saving, and events at once, in chunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import axonad
from axonad import make_detector
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.recalibrate import default_shape, recalibrate, seconds_between
from axonad.data.series import Series
from axonad.errors import ConfigError, DataWarning, InputError, ModelFileError
from tests.conftest import waves

NAMES = ("a", "b", "c")


def series(rows, seed=0, interval=None, name="drive"):
    times = None if interval is None else np.arange(rows) * interval
    return Series(values=waves(rows, seed=seed), channels=NAMES, times=times, name=name)


@pytest.fixture
def detector():
    return make_detector("CrossChannelRidge").fit(series(300))


def test_versions_and_the_threshold_before_are_kept(detector, tmp_path):
    before = detector.threshold_
    setup, found = recalibrate(detector, [series(400, 1)], budget="4 per 400 steps")
    assert detector.threshold_ == before, "nothing changes by itself"
    detector.set_alarms(setup)
    assert detector.threshold_ == setup.policy.start
    assert (setup.version, setup.before) == (1, ({"version": 0, "threshold": before},))
    again, _ = recalibrate(detector, [series(400, 2)], budget="2 per 400 steps")
    detector.set_alarms(again)
    assert again.version == 2
    assert again.before[1]["policy"] == setup.policy.to_json()
    detector.save(tmp_path / "m")
    back = axonad.load(tmp_path / "m").alarm_setup_
    assert back.to_json() == again.to_json()
    assert back.policy == again.policy
    assert found.rate.events <= 4


def test_events_of_the_policy_are_those_the_calibration_counted(detector):
    normal = series(600, 3)
    setup, found = recalibrate(detector, [normal], budget="5 per 600 steps")
    shape = replace(setup.policy, cause_gap=0)
    events = detector.events(normal, policy=shape)
    assert len(events) == found.rate.events > 0
    assert all(event.channels for event in events)
    assert len(detector.events(normal, policy=setup.policy)) <= found.rate.events


def test_another_fit_removes_the_alarms(detector):
    detector.set_alarms(recalibrate(detector, [series(200, 1)], budget="4 per 400 steps")[0])
    detector.fit(series(300))
    assert detector.alarm_setup_ is None


def test_hours_come_from_training_from_the_data_or_are_given(detector):
    with pytest.raises(InputError, match="per hour needs the time between two steps"):
        recalibrate(detector, [series(200, 1)], budget="1 per hour")
    by_data = recalibrate(detector, [series(200, 1, interval=0.5)], budget="100 per hour")[1]
    assert by_data.seconds_per_step == pytest.approx(0.5)
    given = recalibrate(detector, [series(200, 1)], budget="100 per hour", seconds_per_step=2)[1]
    assert given.rate.periods == pytest.approx(given.steps * 2 / 3600)
    timed = make_detector("CrossChannelRidge").fit(series(300, interval=0.25))
    assert recalibrate(timed, [series(200, 1)], budget="9 per hour")[1].seconds_per_step == 0.25


def test_the_time_between_rows_leaves_out_gaps():
    times = np.array([0.0, 1, 2, 3, 103, 104, 105, 104.5, np.nan, 105.5])
    one = Series(values=waves(10), channels=NAMES, times=times)
    assert seconds_between([one, series(50), waves(9)]) == pytest.approx(1.0)
    assert seconds_between([series(50)]) is None


def test_refit_leaves_the_recordings_out(detector):
    recordings = [series(200, seed) for seed in (1, 2, 3)]
    _, found = recalibrate(detector, recordings, budget="6 per 600 steps", refit=True)
    assert found.checked is not None
    assert found.steps == sum(len(one) for one in recordings) - 3 * detector.lead


def test_training_data_is_noticed(detector):
    with pytest.warns(DataWarning, match="recording 1 seems to be the training data"):
        recalibrate(detector, [waves(300)], budget="6 per 600 steps")
    recalibrate(detector, [waves(300)], budget="6 per 600 steps", refit=True)


def test_rules_are_learned_from_the_data_before_filling(detector):
    raw = waves(200)
    raw[20:50, 1] = np.nan
    filled = np.where(np.isnan(raw), 0.0, raw)
    setup, _ = recalibrate(detector, [filled], budget="5 per 200 steps", raw=[raw])
    assert setup.rules.missing.tolist() == [0, 30, 0]
    assert setup.rules.names == NAMES


def test_shape_is_kept_or_given(detector):
    setup, _ = recalibrate(detector, [series(200, 1)], budget="5 per 200 steps")
    history = detector.history
    assert setup.policy.merge_gap == default_shape(history).merge_gap == 20
    assert default_shape(100).merge_gap == 100
    shape = AlarmPolicy(start=0.0, min_duration=3, merge_gap=7)
    setup, _ = recalibrate(detector, [series(200, 1)], budget="5 per 200 steps", shape=shape)
    detector.set_alarms(setup)
    kept, _ = recalibrate(detector, [series(200, 1)], budget="5 per 200 steps")
    assert (kept.policy.min_duration, kept.policy.merge_gap) == (3, 7)
    moved = setup.moved(99.0)
    assert (moved.policy.start, moved.calibration) == (99.0, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 0}, "version of its alarms is 0"),
        ({"before": {}}, "expected a list"),
        ({"policy": {"start": 1.0, "end": 2.0}}, "end must be at most start"),
        ({"policy": {"begin": 1.0}}, "AlarmPolicy has no parameter 'begin'"),
        ({"policy": {}}, "start"),
        ({"rules": {"low": [1.0]}}, "names"),
        ({"calibration": 3}, "calibration is 3"),
    ],
)
def test_made_up_alarms_are_refused(detector, tmp_path, change, reason):
    setup, _ = recalibrate(detector, [series(200, 1)], budget="5 per 200 steps")
    detector.set_alarms(setup)
    made_up = setup.to_json() | change

    class Fake:
        def to_json(self):
            return made_up

    detector.alarm_setup_ = Fake()
    detector.save(tmp_path / "m")
    with pytest.raises(ModelFileError, match=reason):
        axonad.load(tmp_path / "m")


def test_bad_input(detector):
    with pytest.raises(ConfigError, match="must be above 0"):
        recalibrate(detector, [series(200)], budget="0 per hour")
    with pytest.raises(InputError, match="drive cannot be used for calibration: window must be"):
        recalibrate(make_detector("PCA", window=9).fit(waves(50)), [series(5)], budget="1 per day",
                    seconds_per_step=1)  # fmt: skip


def test_training_data_of_a_memory_is_noticed():
    """A shape memory knows its training windows: their scores tell nothing about new ones."""
    X = waves(600) + 0.3 * np.random.default_rng(0).normal(size=(600, 3))
    memory = make_detector("ShapeMemory").fit(X)
    with pytest.raises(InputError, match="all scores of recording 1 are 0, so that no threshold"):
        recalibrate(memory, [X], budget="1 per 1000 steps")
    both = make_detector("MultiView", views=("shape", "relation"), self_tested=False).fit(X)
    with pytest.warns(DataWarning, match="recording 1 seems to be the training data"):
        recalibrate(both, [X], budget="1 per 1000 steps")
