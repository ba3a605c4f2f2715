"""Events of a live stream against those of the whole series."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from axonad import StreamScorer, make_detector
from axonad.data.series import Series
from axonad.stream import TOLERANCE
from axonad.stream.live_events import LiveEvents
from tests.conftest import waves
from tests.stream.conftest import NAMES


@pytest.fixture(scope="module")
def detector():
    times = np.arange(300) / 10
    train = Series(values=waves(300), channels=tuple(NAMES), times=times)
    return make_detector("ControlChart", memory=0.5, contamination=0.02).fit(train)


def noisy(rows):
    rng = np.random.default_rng(3)
    values = waves(rows, seed=1)
    values[30:][rng.random(rows - 30) < 0.1] += rng.normal(size=3) * 3
    return values


def live(detector, X, *, gap, restart=()):
    scorer = StreamScorer(detector)
    events = LiveEvents(detector.channel_names, gap=gap)
    found = []
    for i, row in enumerate(X):
        if i in restart:
            state = json.loads(json.dumps(events.state()))
            events = LiveEvents(detector.channel_names, gap=gap)
            events.restore(state)
        if (result := scorer.push(row)) is not None:
            found.append(events.add(result, scorer.blame, time=i / 10))
    found.append(events.finish())
    return [event for event in found if event is not None]


@pytest.mark.parametrize("gap", [0, 1, 2, 7])
@pytest.mark.parametrize("restart", [(), range(0, 400, 3)])
def test_events_equal_those_of_the_whole(detector, gap, restart):
    X = noisy(400)
    expected = detector.explain(X).events(gap=gap)
    found = live(detector, X, gap=gap, restart=restart)
    assert len(expected) > 5
    assert [replace(f.event, score=0.0) for f in found] == [replace(e, score=0.0) for e in expected]
    np.testing.assert_allclose(
        [f.event.score for f in found], [e.score for e in expected], rtol=TOLERANCE
    )
    assert [(f.begins, f.ends) for f in found] == [
        (e.start / 10, (e.end - 1) / 10) for e in expected
    ]


def test_events_of_axonad(fitted):
    X = waves(80, seed=1)
    X[40:45, 1] += 4
    detector = copy(fitted).set_params(align="end")
    expected = detector.explain(X).events(gap=4)
    found = [f.event for f in live(detector, X, gap=4)]
    assert [(e.start, e.end, e.peak) for e in found] == [(e.start, e.end, e.peak) for e in expected]
    assert found
    assert [e.channels for e in found] == [e.channels for e in expected]
    assert found[0].channels[0] == "yaw_rate"


def test_an_event_is_returned_as_soon_as_it_has_ended(detector):
    scorer = StreamScorer(detector)
    events, X = LiveEvents(detector.channel_names, gap=2), waves(60, seed=1)
    X[30] += 20
    last = None
    for row in X:
        result = scorer.push(row)
        if result is None:
            continue
        if result.alarm:
            last = result.step
        if events.add(result, scorer.blame, result.step) is not None:
            assert result.step == last + 3
            assert not events.is_open
            return
    pytest.fail("no event has ended")


@pytest.mark.parametrize(
    "change", [{"start": -1}, {"end": "x"}, {"peak": 99}, {"score": "high"}, {"blame": ["a"]},
               {"blame": [1.0, 2.0]}, {"other": 1}],
)  # fmt: skip
def test_states_that_do_not_fit(change):
    state = {"start": 3, "end": 6, "peak": 4, "score": 1.0, "begins": None, "ends": None,
             "blame": [1.0], "after": None}  # fmt: skip
    LiveEvents(("a",), gap=0).restore(state)
    with pytest.raises((KeyError, TypeError, ValueError)):
        LiveEvents(("a",), gap=0).restore(state | change)
