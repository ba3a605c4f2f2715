"""Scores of the full windows of several streams."""

from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from axonad.stream.stream_state import StreamState
from axonad.stream.window_scorer import WindowScorer
from tests.conftest import waves
from tests.stream.conftest import assert_close


def fill(detector, X):
    """Return a new stream whose window ends with the last row."""
    stream = StreamState(detector, vehicle=None, hold_limit=0, keep=0, finds_events=False)
    for row in X:
        stream.push(row)
    return stream


@pytest.fixture(params=["live windows", "one window after another"])
def detector(request, fitted):
    if request.param == "live windows":
        return fitted
    return make_detector("PCA", window=16, units="train", align="end").fit(waves(300))


def test_streams_are_scored_as_their_windows(detector):
    scorer, series = WindowScorer(detector), [waves(30, seed=seed) for seed in range(3)]
    streams = [fill(detector, X[: 16 + i]) for i, X in enumerate(series)]
    for t in range(3):
        (found, parts), refused = scorer.score(streams)
        assert not refused
        for i, X in enumerate(series):
            scores, expected = detector.score_ends(X[i + t : 16 + i + t])
            assert_close(found[i], scores[0])
            for name, values in expected.items():
                assert_close(parts[name][i], values[0])
            streams[i].push(X[16 + i + t])


def test_the_slot_of_a_removed_stream_is_used_again(fitted):
    scorer = WindowScorer(fitted)
    first, second = fill(fitted, waves(16)), fill(fitted, waves(16, seed=1))
    scorer.score([first, second])
    scorer.remove(first)
    third = fill(fitted, waves(16, seed=2))
    (found, _), _ = scorer.score([second, third])
    assert_close(found, [fitted.score_ends(waves(16, seed=seed))[0][0] for seed in (1, 2)])


def test_streams_without_a_finite_score_have_a_reason_and_the_others_their_scores():
    detector = make_detector("PCA", window=4, units="raw").fit(waves(300))
    good, bad = waves(4, seed=1), waves(4, seed=2)
    bad[-1] = [1e200, -1e200, 1e200]
    scorer = WindowScorer(detector)
    with np.errstate(all="ignore"):
        (found, _), refused = scorer.score([fill(detector, X) for X in (good, bad, good)])
        (none, parts), all_refused = scorer.score([fill(detector, bad)])
    expected = detector.score_ends(good)[0][0]
    assert_close(found, [expected, np.nan, expected])
    assert list(refused) == [1]
    assert "not finite" in refused[1]
    assert np.isnan(none).all() and parts == {} and list(all_refused) == [0]
