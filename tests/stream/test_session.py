"""A session: scores of rows that come one by one, many at a time, or all at once."""

from __future__ import annotations

import threading
from copy import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import axonad
from axonad import AxonAD, Session, make_detector
from axonad.data.series import Series
from axonad.errors import ConfigError, DataWarning, InputError, NotFittedError
from axonad.stream import fleet as fleet_module
from axonad.stream import step
from tests.conftest import waves
from tests.stream.conftest import assert_close, assert_same, one_by_one


def test_live_scores_equal_batch_end_scores(fitted):
    X = waves(80, seed=1)
    X[40:45, 1] += 4
    scores, parts = fitted.score_ends(X)
    found = one_by_one(Session(fitted), X)
    assert np.isnan(found.scores[:15]).all()
    assert_close(found.scores[15:], scores)
    assert list(found.parts) == list(parts)
    for name, values in parts.items():
        assert_close(found.parts[name][15:], values)
    assert (found.scores[15:] > fitted.threshold_).any()


def test_steps_say_which_rows_they_have(fitted):
    session, X = Session(fitted), waves(30)
    assert (session.push(X[0]).first, session.push(X[1:20]).first) == (0, 1)
    last = session.push(X[20:])
    assert (last.first, len(last.scores), session.rows, session.is_full) == (20, 10, 30, True)
    assert (last.refused, last.changes, last.held) == ((), (), {})
    assert session.push(np.empty((0, 3))).first == 30


def test_public_end_alignment_is_what_streams(small):
    detector = AxonAD(**small, align="end").fit(waves(200))
    X = waves(60, seed=1)
    live = Session(detector).push(X).scores[15:]
    assert_close(live, detector.decision_function(X)[15:])
    detector.set_params(align="center")
    assert_close(Session(detector).push(X).scores[15:], live)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 40), max_size=6))
def test_any_mix_of_one_and_many_rows(fitted, sizes):
    X = waves(sum(sizes) + 3, seed=2)
    X[3:5, 0] = X[7:, 1][:4] = np.nan
    alone = one_by_one(Session(fitted, hold_limit=2), X)
    session, steps, start = Session(fitted, hold_limit=2), [], 0
    for size in sizes:
        steps.append(session.push(X[start : start + size]))
        start += size
    steps += [session.push(row) for row in X[start:]]
    assert_same(steps, alone)


def test_many_rows_are_scored_in_blocks(fitted, monkeypatch):
    X = waves(100, seed=1)
    whole = Session(fitted).push(X)
    monkeypatch.setattr(fleet_module, "BLOCK", 7)
    assert_same([Session(fitted).push(X)], whole)


def test_no_rows_give_no_scores(fitted):
    for nothing in ([], (), np.empty((0, 3)), iter([])):
        assert len(Session(fitted).push(nothing).scores) == 0


def test_a_refused_row_is_said_and_does_not_stop_the_rows_after_it(fitted):
    X = waves(60, seed=1)
    X[40:43, 1] = np.nan
    session = Session(fitted, hold_limit=2)
    found = session.push(X)
    (refused,) = found.refused
    assert refused.row == 42
    assert "channel 'yaw_rate' has been silent for more than hold_limit=2" in refused.reason
    assert found.held == {40: ("yaw_rate",), 41: ("yaw_rate",)}
    assert np.flatnonzero(np.isnan(found.scores)).tolist() == [*range(15), *range(42, 58)]
    assert_same([one_by_one(Session(fitted, hold_limit=2), X)], found)


def test_detectors_that_cannot_stream(small):
    with pytest.raises(NotFittedError):
        Session(AxonAD(**small))
    paper = AxonAD.paper(**small).fit(waves(100))
    with pytest.raises(
        ConfigError, match="cannot run live as it was fitted: its scaling needs the whole series"
    ):
        Session(paper)
    with pytest.raises(ConfigError, match="hold_limit must be at least 0, got -1"):
        Session(AxonAD(**small).fit(waves(100)), hold_limit=-1)
    with pytest.raises(ConfigError, match=r"must be a fitted detector, got 'model'; load a saved"):
        Session("model")


@pytest.mark.parametrize(("old", "new"), [("StreamScorer", "Session"), ("FleetScorer", "Fleet")])
def test_the_old_names_say_what_became_of_them(old, new):
    with pytest.raises(AttributeError, match=rf"{old} became axonad\.{new}; see docs/upgrade\.md"):
        getattr(axonad, old)


def with_gaps(rows):
    """Times of ten rows per second with a gap, a step backwards, a repeated and a missing time."""
    times = np.arange(rows) / 10
    times[25:] += 5.0
    times[50:] -= 3.0
    times[70] = times[69]
    times[80] = np.nan
    return times


CHEAP = ("PCA", {"window": 16, "units": "train", "align": "end"})


@pytest.mark.parametrize("kind", ["AxonAD", "PCA"])
@pytest.mark.parametrize("way", ["rows", "many", "blocks", "series"])
def test_gaps_in_time_split_the_stream_as_they_split_a_file(timed, monkeypatch, kind, way):
    detector, times, X = timed, with_gaps(100), waves(100, seed=1)
    if kind == "PCA":
        train = Series(values=waves(300), channels=("a", "b", "c"), times=np.arange(300) / 10)
        detector = make_detector(CHEAP[0], **CHEAP[1]).fit(train)
    series = Series(values=X, channels=detector.channel_names, times=times)
    with pytest.warns(DataWarning):
        batch = detector.explain(series)
    session = Session(detector)
    if way == "blocks":
        monkeypatch.setattr(fleet_module, "BLOCK", 7)
    if way == "rows":
        found = one_by_one(session, X, times)
    else:
        found = session.push(series) if way == "series" else session.push(X, times)
    unscored = {row for start in (0, 25, 50) for row in range(start, start + 15)}
    known = [row for row in range(100) if row not in unscored]
    assert set(np.flatnonzero(np.isnan(found.scores)).tolist()) == unscored
    assert_close(found.scores[known], batch.scores[known])
    for name, values in batch.components.items():
        if name != "score":
            assert_close(found.parts[name][known], values[known])
    counts = session.counts()
    assert [counts[name] for name in ("gaps", "repeated", "rows")] == [2, 1, 100]


def test_only_known_intervals_make_gaps(fitted, timed):
    X, times = waves(40, seed=1), np.arange(40) * 60.0
    assert np.isfinite(Session(fitted).push(X, times).scores[-1])
    session = Session(timed)
    assert np.isnan(session.push(X, times).scores).all()
    assert session.counts()["gaps"] == 39


def test_the_last_time_is_saved(timed):
    X, times = waves(100, seed=1), with_gaps(100)
    first = Session(timed)
    first.push(X[:25], times[:25])
    second = Session(timed, first.state())
    assert np.isnan(second.push(X[25], times[25]).scores).all()
    assert (second.counts()["gaps"], second.rows, second.is_full) == (1, 26, False)


def test_what_cannot_be_read_changes_nothing(fitted):
    session = Session(fitted)
    with pytest.raises(InputError, match="a time must be a number of seconds"):
        session.push([1.0, 2.0, 3.0], "soon")
    with pytest.raises(InputError, match="times must have 1 entries"):
        session.push([[1.0, 2.0, 3.0]], [1.0, 2.0])
    with pytest.raises(InputError, match=r"^a row must hold numbers"):
        session.push(["x", 2.0, 3.0])
    assert session.rows == 0


def test_attribution_is_that_of_the_last_window(fitted):
    X = waves(40, seed=1)
    X[30:, 1] += 4
    session = Session(fitted)
    assert session.attribution() is None
    session.push(X)
    end = copy(fitted).set_params(align="end")
    assert_close(session.attribution(), end.explain(X).blame[-1])


@pytest.mark.parametrize("rows", [np.s_[0], np.s_[:1], np.s_[:4]])
def test_a_score_that_overflows_is_refused_and_clears_the_window(rows):
    detector = make_detector("PCA", window=4, units="raw").fit(waves(300))
    session, X = Session(detector), waves(40, seed=1)
    session.push(X[:10])
    bad = np.array([[1e200, -1e200, 1e200], *X[10:13]])
    with np.errstate(all="ignore"):
        found = session.push(bad[rows])
    (refused,) = found.refused
    assert refused.row == 10
    assert "not finite" in refused.reason
    assert np.isnan(found.scores).all()
    again = session.push(X[13:23])
    assert np.isnan(again.scores).sum() == 4 - len(found.scores)
    assert session.counts()["refused"] == 1


def test_a_step_at_a_time_gives_what_a_session_gives(fitted):
    X = waves(60, seed=1)
    whole, state, steps = Session(fitted).push(X), None, []
    for first in range(0, 60, 7):
        found, state = step(fitted, state, X[first : first + 7])
        steps.append(found)
    assert_same(steps, whole)


def test_threads_may_share_a_session(fitted):
    session, X = Session(fitted), waves(40, seed=1)
    threads = [threading.Thread(target=lambda: [session.push(row) for row in X]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = session.counts()
    assert (counts["rows"], counts["scored"], counts["refused"]) == (160, 145, 0)
