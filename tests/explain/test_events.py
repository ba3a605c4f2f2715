from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import axonad
from axonad import Fleet, Session, make_detector
from axonad.alarms.event import AlarmEvent
from axonad.alarms.policy import AlarmPolicy
from axonad.errors import ConfigError
from axonad.explain import explain_events
from axonad.explain.culprits import find_rows
from axonad.threshold import Event
from tests.explain.conftest import NAMES, drive, series


@pytest.fixture(scope="module")
def event(ridge, frozen_yaw):
    return max(ridge.events(series(frozen_yaw), gap=20, why=True), key=lambda e: e.end - e.start)


def test_a_frozen_channel_is_named_with_rows_kind_and_relation(event):
    why = event.why
    assert why.channels == why.counterfactual.channels == ("yaw",)
    assert why.kind == "frozen"
    assert abs(why.rows[0] - 300) <= 8 and abs(why.rows[1] - 380) <= 8
    assert why.relations[0].channel == "yaw"
    assert "roll" in why.relations[0].given
    assert why.relations[0].ratio > 5
    assert why.relations[0].words.startswith("yaw given ")
    assert "yaw is frozen and no longer follows" in why.sentence
    assert ", was 0" in why.sentence
    assert why.sentence.endswith("with yaw as expected there would be no alarm")


def test_expected_course_is_what_was_hidden(event):
    course = event.why.courses[0]
    truth = drive(700, seed=1)[:, 2]
    rows = slice(300 - course.start, 380 - course.start)
    assert course.channel == "yaw"
    assert (course.actual[rows] == 0).all()
    assert np.abs(course.expected[rows] - truth[300:380]).mean() < 0.1 * truth.std()
    inside = (course.low[rows] <= truth[300:380]) & (truth[300:380] <= course.high[rows])
    assert inside.mean() > 0.8
    assert [course.channel for course in event.why.courses[1:]] == list(
        event.why.relations[0].given
    )


def test_counterfactual_is_the_score_of_the_replaced_rows(ridge, frozen_yaw, event):
    found = event.why.counterfactual
    assert found.vanishes and found.tried == 1
    assert found.score_before == event.score > ridge.threshold_ >= found.score_after
    repaired = frozen_yaw.copy()
    repaired[300:380] = drive(700, seed=1)[300:380]
    assert ridge.decision_function(series(repaired))[event.start : event.end].max() < (
        ridge.threshold_
    )


def test_a_set_that_does_not_help_is_reported(ridge, frozen_yaw, event):
    X = series(frozen_yaw)
    scene = replace(ridge.scene(X), threshold=-1.0)
    from axonad.explain import explain_event

    found = explain_event(scene, event)
    assert not found.counterfactual.vanishes
    assert found.counterfactual.channels == ()
    assert 1 <= found.counterfactual.tried <= 12
    assert found.sentence.endswith("no small set of channels explains the alarm")


def test_two_tied_channels_that_break_together(ridge):
    X, other = drive(700, seed=2), drive(700, seed=3)
    X[300:380, 3:5] = other[300:380, 3:5] * [1.0, 1.0] + [15.0, 0.0]
    event = Event(300, 380, 340, 9.0)
    why = explain_events(ridge, series(X), [event])[0]
    assert set(why.channels) & {"torque", "fuel"}
    assert "yaw" not in why.channels


def test_json_has_everything_and_no_nan(event):
    document = event.why.to_json()
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["courses"][0]["channel"] == "yaw"
    assert document["counterfactual"]["vanishes"] is True
    assert len(document["relations"][0]["then_actual"]) <= 300
    assert set(document) == {
        "channels", "kind", "sentence", "rows", "courses", "relations", "counterfactual",
    }  # fmt: skip


def test_events_are_equal_with_and_without_why(ridge, frozen_yaw):
    X = series(frozen_yaw)
    assert ridge.events(X, why=True) == ridge.events(X)
    policy = AlarmPolicy(start=ridge.threshold_)
    found = ridge.events(X, policy=policy, why=True)
    assert all(isinstance(each, AlarmEvent) and each.why is not None for each in found)


def test_names_are_only_text(frozen_yaw):
    names = ("<script>alert(1)</script>", "{0}", "%s", "a\nb", "", "ü", "]]>")
    detector = make_detector("Relation", lags=2, smooth=8).fit(series(drive(1_500), names))
    why = detector.events(series(frozen_yaw, names), gap=20, why=True)[0].why
    assert why.channels[0] == "%s"
    assert "no longer follows ]]>" in why.sentence


@pytest.mark.parametrize("name", ["IForest", "PCA"])
def test_detectors_without_relations_are_explained_too(name, frozen_yaw):
    X = frozen_yaw.copy()
    X[300:380, 4] = 40.0
    detector = make_detector(name).fit(drive(1_500))
    event = Event(300, 380, 340, float(detector.decision_function(X)[300:380].max()))
    assert explain_events(detector, X, [event])[0].channels[0] in ("2", "4")


def test_context_is_never_blamed():
    detector = make_detector("Relation", lags=2, smooth=8, context=("steer",))
    detector.fit(series(drive(2_000)))
    X = drive(700, seed=1)
    X[300:380, 0] = -X[300:380, 0]
    why = explain_events(detector, series(X), [Event(300, 380, 340, 9.0)])[0]
    assert "steer" not in why.channels
    assert not any("steer" in found.channels for found in [why.counterfactual])


def test_gaps_bound_what_is_looked_at(ridge, frozen_yaw):
    times = np.arange(700.0)
    times[350:] += 1e4
    X = axonad.data.series.Series(values=frozen_yaw, channels=NAMES, times=times)
    with pytest.warns(axonad.errors.DataWarning):
        events = ridge.explain(X)
    found = events.explained(events.events(gap=20))
    assert all(not e.why.rows[0] < 350 < e.why.rows[1] for e in found)


def test_saved_models_explain_and_old_ones_say_what_to_do(ridge, frozen_yaw, event, tmp_path):
    ridge.save(tmp_path / "model")
    again = axonad.load(tmp_path / "model")
    assert explain_events(again, series(frozen_yaw), [event])[0].to_json() == event.why.to_json()
    again.reference_ = None
    with pytest.raises(ConfigError, match="fit it again"):
        again.events(series(frozen_yaw), why=True)
    again.save(tmp_path / "old")
    old = axonad.load(tmp_path / "old")
    assert old.reference_ is None and old.events(series(frozen_yaw))
    assert old.fingerprint == ridge.fingerprint


def test_live_explanation_is_that_of_the_rows_so_far(ridge, frozen_yaw, event):
    batch = explain_events(ridge, series(frozen_yaw[:420]), [event])[0].to_json()
    session = Session(ridge, keep=500)
    session.push(frozen_yaw[:200])
    for row in frozen_yaw[200:250]:
        session.push(row)
    session = Session(ridge, session.state(), keep=500)
    session.push(frozen_yaw[250:420])
    assert session.explain(event).to_json() == batch
    fleet = Fleet(ridge, keep=500)
    for row in frozen_yaw[:420]:
        fleet.push({"car": row})
    assert fleet.explain("car", event).to_json() == batch


def test_live_explanation_needs_rows(ridge, event, frozen_yaw):
    with pytest.raises(ConfigError, match="keep=2000"):
        Session(ridge).explain(event)
    session = Session(ridge, keep=10)
    session.push(frozen_yaw)
    with pytest.raises(ConfigError, match="row 690"):
        session.explain(event)


def test_rows_of_a_fault():
    ratios = np.array([0, 0, 9, 9, 0.2, 9, *[0.0] * 60, 9, 9, 9])
    assert find_rows(ratios, slice(2, 8)) == (2, 6)
    assert find_rows(np.zeros(9), slice(0, 9)) is None
