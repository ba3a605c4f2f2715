"""Scores of the full windows of several streams."""

from __future__ import annotations

import pytest

from axonad import make_detector
from axonad.errors import ConfigError
from axonad.stream.window_scorer import WindowScorer
from tests.conftest import waves
from tests.stream.conftest import assert_close


def fill(scorer, X):
    """Return a new lane whose window ends with the last row."""
    lane = scorer.new_lane()
    for row in X:
        lane.push(row, hold_limit=0)
    return lane


@pytest.fixture(params=["live windows", "one window after another"])
def detector(request, fitted):
    if request.param == "live windows":
        return fitted
    return make_detector("PCA", window=16, units="train", align="end").fit(waves(300))


def test_lanes_are_scored_as_their_windows(detector):
    scorer, series = WindowScorer(detector), [waves(30, seed=seed) for seed in range(3)]
    lanes = [fill(scorer, X[: 16 + i]) for i, X in enumerate(series)]
    for t in range(3):
        results = scorer.score(lanes, [(), ("a",), ()])
        for i, (result, X) in enumerate(zip(results, series, strict=True)):
            scores, parts = detector.score_ends(X[i + t : 16 + i + t])
            assert_close(result.score, scores[0])
            for name, values in parts.items():
                assert_close(result.components[name], values[0])
            assert result.step == 15 + i + t
            assert result.alarm == (result.score > detector.threshold_)
            lanes[i].push(X[16 + i + t], hold_limit=0)
        assert [result.held for result in results] == [(), ("a",), ()]
    assert [lane.scored for lane in lanes] == [3, 3, 3]


def test_the_slot_of_a_removed_lane_is_used_again(fitted):
    scorer = WindowScorer(fitted)
    first, second = fill(scorer, waves(16)), fill(scorer, waves(16, seed=1))
    scorer.score([first, second], [(), ()])
    scorer.remove(first)
    third = fill(scorer, waves(16, seed=2))
    found = scorer.score([second, third], [(), ()])
    expected = [fitted.score_ends(waves(16, seed=seed))[0][0] for seed in (1, 2)]
    assert_close([result.score for result in found], expected)


def test_only_a_detector_can_score():
    with pytest.raises(ConfigError, match=r"must be a fitted detector, got 'model'; load a saved"):
        WindowScorer("model")
