"""From a fitted detector and a recording to what the page tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from axonad.alarms.recalibrate import recalibrate
from axonad.data.series import Series
from axonad.errors import DataWarning
from axonad.explain import BrokenRelation, Counterfactual, Course, Why
from axonad.registry import make_detector
from axonad.report.page.axis import Axis
from axonad.report.page.card import describe_model
from axonad.report.page.content import DATE, SECONDS, STEP, Page, Source
from axonad.report.page.curves import explained_curves
from axonad.report.page.document import render
from axonad.report.page.gather import keep_strongest, overview_points, view_recording
from axonad.report.page.scoring import score_series
from axonad.report.page.words import verdict
from axonad.threshold import Event
from tests.conftest import waves
from tests.report.page.pages import recording

NAMES = ("speed", "yaw_rate", "torque")


def made_series(rows, *, seed, times=True, fault=False):
    X = waves(rows, seed=seed)
    if fault:
        X[100:130, 1] += 2
        X[200:260, 2] = X[200, 2]
    return Series(values=X, channels=NAMES, times=np.arange(rows) / 10 if times else None)


@pytest.fixture(scope="module")
def detector():
    made = make_detector("CrossChannelRidge")
    made.fit(made_series(400, seed=0))
    normal = [made_series(300, seed=seed) for seed in (1, 2)]
    made.set_alarms(recalibrate(made, normal, budget="400 per hour")[0])
    return made


def viewed(detector, series, **changes):
    scored = replace(score_series(detector, series, explained=30), **changes)
    return view_recording(
        detector, scored, source=Source("a.csv"), place=1, first_number=1, points=100
    )


def test_events_data_problems_and_hours(detector):
    series = made_series(400, seed=5, fault=True)
    view = viewed(detector, series)
    found = detector.explain(series).alarm_events(detector.alarm_setup_.policy)
    assert [event.score for event in view.events] == [event.score for event in found]
    assert view.events[0].begins == f"{found[0].start / 10:g} s"
    assert view.events[0].severity == found[0].severity
    assert [(p.reason, p.channels) for p in view.problems] == [("frozen", ("torque",))]
    assert view.hours == pytest.approx(40 / 3600)
    assert view.expected_events == pytest.approx(400 * 40 / 3600)
    card = describe_model(detector, "model")
    assert "The budget of 400 per hour accepts 4.4 false events" in verdict(view, card)
    assert "No drift. 1 data problem." in verdict(view, card)
    assert dict(card.rows)["fingerprint"] == detector.fingerprint
    assert dict(card.rows)["trained on"] == "400 rows, 40 s at 0.1 s per row"
    page = Page("t", card, (view,))
    assert b"400 per hour" in render(page)


@pytest.mark.parametrize(
    ("times", "axis"),
    [
        (np.arange(400) / 10, SECONDS),
        (np.datetime64("2026-01-01", "ms") + 100 * np.arange(400), DATE),
        (None, STEP),
    ],
)
def test_recordings_with_any_kind_of_times(detector, times, axis):
    series = replace(made_series(400, seed=5, fault=True), times=times)
    view = viewed(detector, series)
    assert view.axis == axis
    assert view.events
    assert render(Page("t", describe_model(detector, "m"), (view,)))


def test_the_overview_keeps_peaks_and_breaks_at_gaps(detector):
    series = made_series(400, seed=5, fault=True)
    times = np.arange(400) / 10
    times[250:] += 100
    with pytest.warns(DataWarning, match="1 gap in time"):
        view = viewed(detector, replace(series, times=times))
    assert view.breaks == 1
    assert len(view.overview.x) <= 104
    torque = dict(view.overview.channels)["torque"]
    assert np.nanmax(torque) == series.values[:, 2].max()
    gap = np.flatnonzero(np.isnan(torque))
    assert len(gap) == 1
    assert 24.9 < view.overview.x[gap[0]] < 125


def test_missing_values_are_counted_before_they_are_filled(detector):
    series = made_series(400, seed=5)
    holes = series.values.copy()
    holes[5:8, 0] = np.nan
    assert viewed(detector, series, raw=replace(series, values=holes)).missing == 3


def test_only_the_strongest_events_have_plots():
    views = [recording("a"), recording("b", events=2, first_number=4)]
    kept, listed = keep_strongest(views, 2)
    assert listed == 3
    events = [event for view in kept for event in view.events]
    shown = {event.number for event in events if event.curves}
    assert len(events) == 5
    assert shown == {e.number for e in sorted(events, key=lambda e: -e.score)[:2]}


def test_many_recordings_share_the_points():
    assert overview_points(recordings=1, channels=50) == 1000
    assert overview_points(recordings=100, channels=50) == 60


def test_a_model_without_a_budget_says_so():
    made = make_detector("CrossChannelRidge").fit(made_series(400, seed=0, times=False))
    card = describe_model(made, "m")
    assert card.budget is None
    assert "axonad recalibrate" in card.cautions[0]
    view = viewed(made, made_series(400, seed=5, times=False, fault=True))
    assert view.hours is None
    assert {event.severity for event in view.events} == {""}
    assert "in 400 rows." in verdict(view, card)


def test_unreadable_numbers_of_a_calibration_are_no_crash(detector):
    from copy import copy

    broken = copy(detector)
    broken.alarm_setup_ = replace(detector.alarm_setup_, calibration={"budget": 3})
    assert "cannot be read" in describe_model(broken, "m").cautions[0]


# -- explanations ---------------------------------------------------------------------------------


def made_why(series, event):
    rows = slice(max(0, event.start - 30), min(len(series), event.end + 30))
    actual = series.values[rows, 1]
    course = Course("yaw_rate", rows.start, actual, actual + 1, actual + 0.5, actual + 1.5)
    dots = np.linspace(-1, 1, 400)
    relation = BrokenRelation(
        "yaw_rate", ("speed",), 12.0, "yaw_rate given speed", dots, dots, dots, -dots
    )
    vanishes = Counterfactual(("yaw_rate",), True, 9.0, 1.0, 3)
    sentence = "yaw_rate is shifted."
    return Why(("yaw_rate",), "shifted", sentence, (course,), (relation,), vanishes)


def test_an_explanation_is_told(detector):
    series = made_series(400, seed=5, fault=True)
    (found, *_) = score_series(detector, series, explained=0).events
    assert found.event.why is None
    told = replace(found, event=replace(found.event, why=made_why(series, found.event)))
    (event,) = viewed(detector, series, events=[told]).events
    assert (event.kind, event.sentence) == ("shifted", "yaw_rate is shifted.")
    assert event.counterfactual == (
        "If yaw_rate had been as expected, there would be no event: the score would peak at 1 "
        "instead of 9."
    )
    (curve,) = event.curves
    assert curve.has_expectation
    arrays = [curve.x, curve.actual, curve.low, event.relations[0].now_actual]
    assert all(a.base is None or len(a.base) < 400 for a in arrays), "no view of the recording"
    assert curve.x[0] == max(0, found.event.start - 30) / 10
    assert len(event.relations[0].then_actual) == 150


def test_curves_keep_as_many_rows_around_an_event_as_it_has():
    rows = np.arange(1000.0)
    course = Course("a", 100, rows, rows, rows, rows)
    nothing = Counterfactual((), False, 2.0, 2.0, 0)
    why = Why(("a",), "shifted", "", (course,), (), nothing, (480, 520))
    (curve,) = explained_curves(why, Event(500, 560, 510, 2.0), Axis.of(None, 2000))
    assert curve.x[[0, -1]].tolist() == [400, 639]
    assert curve.actual[0] == 300


def test_the_strongest_events_are_explained_by_the_model(detector):
    series = made_series(400, seed=5, fault=True)
    scored = score_series(detector, series, explained=1)
    explained = [timed.event for timed in scored.events if timed.event.why is not None]
    assert [event.score for event in explained] == [max(t.event.score for t in scored.events)]
    (first,) = [e for e in viewed(detector, series).events if e.score == explained[0].score]
    assert first.sentence == explained[0].why.sentence
    assert any(curve.has_expectation for curve in first.curves)


def test_a_model_that_cannot_explain_says_so(detector):
    from copy import copy

    old = copy(detector)
    old.reference_ = None
    view = viewed(old, made_series(400, seed=5, fault=True))
    assert view.notes[0].startswith("its events are not explained: the model was saved without")
    assert view.events[0].curves
    assert view.events[0].kind == ""
