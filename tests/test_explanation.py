from __future__ import annotations

import numpy as np

from axonad.explanation import Explanation


def explain(**changes) -> Explanation:
    blame = np.array([[0, 0], [1, 5], [2, 0], [0, 0], [9, 1]], dtype=float)
    values = {"blame": blame, "names": ("speed", "yaw_rate"), **changes}
    scores = np.array([0.0, 2.0, 3.0, 1.0, 4.0])
    return Explanation(scores=scores, components={}, threshold=1.0, **values)


def test_alarms_are_scores_above_the_threshold():
    assert explain().alarms.tolist() == [False, True, True, False, True]


def test_events_have_a_peak_and_channels_sorted_by_blame():
    first, second = explain().events()
    assert (first.start, first.end, first.peak, first.score) == (1, 3, 2, 3.0)
    assert first.channels == ("yaw_rate", "speed")
    assert second.channels == ("speed", "yaw_rate")
    assert explain().events(top=1)[0].channels == ("yaw_rate",)


def test_a_gap_merges_events():
    (event,) = explain().events(gap=1)
    assert (event.start, event.end) == (1, 5)


def test_channels_without_names_are_numbered_and_without_blame_empty():
    assert explain(names=None).events()[0].channels == ("1", "0")
    assert explain(blame=None).events()[0].channels == ()
