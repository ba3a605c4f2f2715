from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axonad import AxonAD, StreamScorer
from axonad.errors import ConfigError, NotFittedError, StaleError
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
