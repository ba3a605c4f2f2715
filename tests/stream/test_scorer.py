from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axonad import AxonAD, StreamScorer, make_detector
from axonad.data.series import Series
from axonad.errors import (
    ConfigError,
    DataWarning,
    DivergedError,
    InputError,
    NotFittedError,
    StaleError,
)
from axonad.stream import scorer as scorer_module
from tests.conftest import waves
from tests.stream.conftest import assert_close


def test_live_scores_equal_batch_end_scores(fitted):
    X = waves(80, seed=1)
    X[40:45, 1] += 4
    scores, components = fitted.score_ends(X)
    scorer = StreamScorer(fitted)
    results = [scorer.push(row) for row in X]
    assert results[:15] == [None] * 15
    assert_close([r.score for r in results[15:]], scores)
    for name, values in components.items():
        assert_close([r.components[name] for r in results[15:]], values)
    assert [r.step for r in results[15:]] == list(range(15, 80))
    assert [r.alarm for r in results[15:]] == [r.score > fitted.threshold_ for r in results[15:]]
    assert any(r.alarm for r in results[15:])


def test_public_end_alignment_is_what_streams(small):
    detector = AxonAD(**small, align="end").fit(waves(200))
    X = waves(60, seed=1)
    live = [r.score for r in StreamScorer(detector).push_many(X) if r is not None]
    assert_close(live, detector.decision_function(X)[15:])
    detector.set_params(align="center")
    again = [r.score for r in StreamScorer(detector).push_many(X) if r is not None]
    assert_close(again, live)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 40), max_size=6))
def test_any_mix_of_push_and_push_many(fitted, sizes):
    X = waves(sum(sizes) + 3, seed=2)
    one = [scorer.push(row) for scorer in [StreamScorer(fitted)] for row in X]
    scorer, mixed, start = StreamScorer(fitted), [], 0
    for size in sizes:
        mixed += scorer.push_many(X[start : start + size])
        start += size
    mixed += [scorer.push(row) for row in X[start:]]
    assert [r is None for r in mixed] == [r is None for r in one]
    assert_close([r.score for r in mixed if r], [r.score for r in one if r])
    assert [r.step for r in mixed if r] == [r.step for r in one if r]


def test_push_many_works_in_blocks(fitted, monkeypatch):
    X = waves(100, seed=1)
    whole = StreamScorer(fitted).push_many(X)
    monkeypatch.setattr(scorer_module, "BLOCK", 7)
    assert_close(
        [r.score for r in StreamScorer(fitted).push_many(X)[15:]], [r.score for r in whole[15:]]
    )


def test_no_rows_give_no_results(fitted):
    for nothing in ([], (), np.empty((0, 3))):
        assert StreamScorer(fitted).push_many(nothing) == []


def test_push_many_returns_the_results_before_a_refused_row(fitted):
    X = waves(60, seed=1)
    X[40:, 1] = np.nan
    scorer = StreamScorer(fitted, hold_limit=2)
    with pytest.raises(StaleError) as caught:
        scorer.push_many(X)
    assert caught.value.row == len(caught.value.results) == 42
    assert caught.value.results[-1].held == ("yaw_rate",)
    assert scorer.refused == 1
    assert scorer.rows == 43
    assert [r.step for r in caught.value.results[15:]] == list(range(15, 42))


def test_detectors_that_cannot_stream(small):
    with pytest.raises(NotFittedError):
        StreamScorer(AxonAD(**small))
    paper = AxonAD.paper(**small).fit(waves(100))
    with pytest.raises(
        ConfigError, match="cannot run live as it was fitted: its scaling needs the whole series"
    ):
        StreamScorer(paper)
    with pytest.raises(ConfigError, match="hold_limit must be at least 0, got -1"):
        StreamScorer(AxonAD(**small).fit(waves(100)), hold_limit=-1)


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
@pytest.mark.parametrize("way", ["push", "push_many", "blocks"])
def test_gaps_in_time_split_the_stream_as_they_split_a_file(timed, monkeypatch, kind, way):
    detector, times, X = timed, with_gaps(100), waves(100, seed=1)
    if kind == "PCA":
        train = Series(values=waves(300), channels=("a", "b", "c"), times=np.arange(300) / 10)
        detector = make_detector(CHEAP[0], **CHEAP[1]).fit(train)
    with pytest.warns(DataWarning):
        series = Series(values=X, channels=detector.channel_names, times=times)
        batch = detector.explain(series)
    scorer = StreamScorer(detector)
    if way == "blocks":
        monkeypatch.setattr(scorer_module, "BLOCK", 7)
    if way == "push":
        found = [scorer.push(row, time) for row, time in zip(X, times, strict=True)]
    else:
        found = scorer.push_many(X, times)
    starts = [0, 25, 50]
    unscored = {step for start in starts for step in range(start, start + 15)}
    assert {i for i, r in enumerate(found) if r is None} == unscored
    assert_close([r.score for r in found if r], [batch.scores[r.step] for r in found if r])
    for name, values in batch.components.items():
        if name != "score":
            assert_close(
                [r.components[name] for r in found if r], [values[r.step] for r in found if r]
            )
    assert (scorer.gaps, scorer.repeated, scorer.rows) == (2, 1, 100)


def test_only_known_intervals_make_gaps(fitted, timed):
    X, times = waves(40, seed=1), np.arange(40) * 60.0
    assert StreamScorer(fitted).push_many(X, times)[-1] is not None
    scorer = StreamScorer(timed)
    assert scorer.push_many(X, times) == [None] * 40
    assert scorer.gaps == 39


def test_the_last_time_is_saved(timed, tmp_path):
    X, times = waves(100, seed=1), with_gaps(100)
    first = StreamScorer(timed)
    first.push_many(X[:25], times[:25])
    first.attached = {"mine": [1]}
    first.save(tmp_path / "s.json")
    second = StreamScorer.restore(tmp_path / "s.json", timed)
    assert second.attached == {"mine": [1]}
    assert second.push(X[25], times[25]) is None
    assert (second.gaps, second.rows, second.is_full) == (1, 26, False)


def test_times_after_a_refused_row_are_not_counted(timed):
    X, times = waves(60, seed=1), np.arange(60) / 10
    times[45:] += 50
    X[20:, 1] = np.nan
    scorer = StreamScorer(timed, hold_limit=2)
    with pytest.raises(StaleError) as caught:
        scorer.push_many(X, times)
    assert (caught.value.row, scorer.rows, scorer.gaps) == (22, 23, 0)
    assert scorer.push(waves(1)[0], times[23]) is None
    assert scorer.gaps == 0


def test_a_time_that_cannot_be_read_changes_nothing(fitted):
    scorer = StreamScorer(fitted)
    with pytest.raises(InputError, match="a time must be a number of seconds"):
        scorer.push([1.0, 2.0, 3.0], "soon")
    with pytest.raises(InputError, match="times must have 1 entries"):
        scorer.push_many([[1.0, 2.0, 3.0]], [1.0, 2.0])
    assert scorer.rows == 0


def test_blame_is_that_of_the_last_window(fitted):
    X = waves(40, seed=1)
    X[30:, 1] += 4
    scorer = StreamScorer(fitted)
    assert scorer.blame() is None
    scorer.push_many(X)
    end = copy(fitted).set_params(align="end")
    assert_close(scorer.blame(), end.explain(X).blame[-1])


@pytest.mark.parametrize("push", [StreamScorer.push, lambda s, row: s.push_many([row])])
def test_a_score_that_overflows_clears_the_window(push):
    detector = make_detector("PCA", window=4, units="raw").fit(waves(300))
    scorer, X = StreamScorer(detector), waves(40, seed=1)
    scorer.push_many(X[:10])
    with np.errstate(all="ignore"), pytest.raises(DivergedError):
        push(scorer, [1e200, -1e200, 1e200])
    assert scorer.rows == 11
    found = [scorer.push(row) for row in X[:6]]
    assert [result is None for result in found] == [True] * 3 + [False] * 3
