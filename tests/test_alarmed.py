"""Detectors with alarms: a budget set in ``fit``, and events by scores at the end of windows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import axonad
from axonad import AxonAD, Session, fit_many, make_detector
from axonad.alarms.scored import without_lead
from axonad.alarms.segments import count_events
from axonad.data.series import Series
from axonad.errors import ConfigError, InputError
from axonad.registry import REGISTRY
from tests.conftest import SMALL, waves

NAMES = ("a", "b", "c")
BUDGET = "4 per 600 steps"


def noisy(rows, seed=0):
    return waves(rows, seed=seed) + 0.3 * np.random.default_rng(seed).normal(size=(rows, 3))


def views(**params):
    return make_detector("MultiView", views=("shape", "relation"), self_tested=False, **params)


@pytest.fixture(scope="module")
def multiview():
    return views(alarm_budget=BUDGET).fit(noisy(600))


def test_held_out_training_scores_keep_the_budget(multiview):
    setup = multiview.alarm_setup_
    scores = without_lead(multiview.decision_scores_, lead=multiview.lead)
    assert multiview.align == "end"
    assert count_events(scores, setup.policy) == setup.calibration["events"] <= 4
    assert setup.calibration["steps"] == 600 - multiview.history + 1
    assert multiview.threshold_ == setup.policy.start
    plain = views(align="end").fit(noisy(600))
    assert setup.before == ({"version": 0, "threshold": plain.threshold_},)
    assert setup.rules is not None
    X = noisy(300, 1)
    np.testing.assert_array_equal(multiview.decision_function(X), plain.decision_function(X))


def test_events_are_judged_at_the_end_whatever_the_alignment(multiview):
    X = noisy(400, 1)
    X[200:215, 1] += 4
    expected = multiview.events(X)
    assert any(event.start <= 215 and event.severity != "warning" for event in expected)
    session = Session(multiview)
    changes = [*session.push(X).changes, *session.finish()]
    live = [change.event for change in changes if change.what == "final"]
    keys = [(e.start, e.end, e.fired, e.peak, e.severity, e.channels) for e in expected]
    assert [(e.start, e.end, e.fired, e.peak, e.severity, e.channels) for e in live] == keys
    try:
        multiview.set_params(align="center")
        assert multiview.events(X) == expected
        with pytest.raises(ConfigError, match=r"judged at the end of windows.*use detector.events"):
            multiview.explain(X).alarm_events(multiview.alarm_setup_.policy)
    finally:
        multiview.set_params(align="end")


def test_other_detectors_are_refitted_without_each_stretch(tmp_path):
    made = make_detector("CrossChannelRidge", alarm_budget=BUDGET)
    series = Series(values=noisy(600), channels=NAMES, times=np.arange(600) / 10.0, name="drive")
    made.fit(series)
    assert made.fit_report_.calibration.checked is not None, "several stretches"
    assert made.alarm_setup_.calibration["seconds_per_step"] == pytest.approx(0.1)
    words = str(made.fit_report_)
    assert f"threshold {made.threshold_:.6g} (budget of 4 per 600 steps)" in words
    assert "alarms: start threshold" in words
    assert "of normal data" in words
    made.save(tmp_path / "m")
    loaded = axonad.load(tmp_path / "m")
    assert loaded.alarm_budget == BUDGET
    assert loaded.alarm_setup_.to_json() == made.alarm_setup_.to_json()
    assert loaded.events(series) == made.events(series)
    twin = clone(loaded).fit(series)
    assert twin.threshold_ == made.threshold_
    with pytest.raises(ConfigError, match="alarm_budget is now '1 per day' but the detector was"):
        loaded.set_params(alarm_budget="1 per day").predict(series)


def test_gaps_and_unusable_rows_are_no_calibration_data():
    unusable = np.zeros(600, dtype=bool)
    unusable[100:130] = True
    times = np.arange(600) / 10.0
    times[400:] += 60
    series = Series(values=noisy(600), channels=NAMES, times=times, unusable=unusable)
    made = make_detector("Relation", alarm_budget="100 per hour")
    with pytest.warns(UserWarning, match=r"gap in time|not learned from"):
        made.fit(series)
    found = made.alarm_setup_.calibration
    assert made.history > 1
    assert found["steps"] == 600 - 30 - 3 * (made.history - 1), "three stretches"
    assert found["seconds_per_step"] == pytest.approx(0.1)


def test_many_fits_at_once_set_alarms_too():
    params = SMALL | {"epochs": 1}
    made, plain = AxonAD(**params, alarm_budget=BUDGET), AxonAD(**params)
    fit_many([made, plain], [noisy(200)] * 2)
    assert made.alarm_setup_.calibration["budget"] == BUDGET
    assert plain.alarm_setup_ is None


def test_nothing_is_new_without_a_budget(tmp_path):
    made = make_detector("CrossChannelRidge").fit(noisy(300))
    made.save(tmp_path / "m")
    document = (tmp_path / "m" / "detector.json").read_text()
    assert "alarm_budget" not in document
    assert "seconds_per_step" not in document
    assert (made.align, made.alarm_setup_) == ("center", None)


@pytest.mark.parametrize("name", [entry.name for entry in REGISTRY])
def test_every_detector_has_a_budget_and_refuses_nonsense(name):
    assert make_detector(name).alarm_budget is None
    with pytest.raises(ConfigError, match="the alarm budget must be written like"):
        make_detector(name, alarm_budget="often")


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alarm_budget": "0 per hour"}, ConfigError, "must be above 0, got '0 per hour'"),
        ({"alarm_budget": 3}, ConfigError, "must be written like"),
        ({"seconds_per_step": 0}, ConfigError, "seconds_per_step must be above 0"),
        ({"alarm_budget": "1 per hour"}, InputError, r"no times; give the seconds per step \(sec"),
        ({"alarm_budget": "1 per 9 steps", "smooth": 80}, InputError, "too few for 5 held-out"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_fitted(params, error, message):
    made = make_detector("CrossChannelRidge")
    with pytest.raises(error, match=message):
        made.set_params(**params).fit(noisy(300))
    assert not hasattr(made, "threshold_")
    assert made.align == "center"
    given = {"alarm_budget": "1 per hour", "seconds_per_step": 60.0}
    made = make_detector("CrossChannelRidge", **given).fit(noisy(300))
    assert made.alarm_setup_.calibration["rate"] <= 1
