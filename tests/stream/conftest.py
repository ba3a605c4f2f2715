"""The tolerance that the docstring of ``axonad.stream`` promises."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from axonad.stream import TOLERANCE, Step

NAMES = ["speed", "yaw_rate", "torque"]


def assert_close(found, expected):
    """Compare scores, components or attributions of two ways of computing them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert (np.isnan(found) == np.isnan(expected)).all()
    close = np.abs(found - expected) <= TOLERANCE * np.maximum(1, np.abs(expected))
    assert (close | np.isnan(expected)).all()


def joined(steps):
    """Return successive steps of a stream as one."""
    steps = list(steps)
    sizes = [len(step.scores) for step in steps]
    assert [step.first for step in steps[1:]] == (steps[0].first + np.cumsum(sizes)[:-1]).tolist()
    names = dict.fromkeys(name for step in steps for name in step.parts)

    def column(name):
        lacking = [np.full(size, np.nan) for size in sizes]
        pairs = zip(steps, lacking, strict=True)
        return np.concatenate([step.parts.get(name, none) for step, none in pairs])

    return Step(
        steps[0].first,
        np.concatenate([step.scores for step in steps]),
        {name: column(name) for name in names},
        tuple(refused for step in steps for refused in step.refused),
        tuple(change for step in steps for change in step.changes),
        {row: names for step in steps for row, names in step.held.items()},
    )


def one_by_one(session, X, times=None):
    """Push rows one by one; return what they gave."""
    if times is None:
        return joined(session.push(row) for row in X)
    return joined(session.push(row, time) for row, time in zip(X, times, strict=True))


def assert_same(steps, expected):
    """Compare successive steps with one that has all their rows."""
    found = joined(steps)
    assert found.first == expected.first
    assert_close(found.scores, expected.scores)
    assert set(found.parts) == set(expected.parts)
    for name, values in expected.parts.items():
        assert_close(found.parts[name], values)
    assert (found.refused, found.held) == (expected.refused, expected.held)


@pytest.fixture
def timed(fitted):
    """The small fitted detector, as if its training series had had ten rows per second."""
    detector = copy(fitted).set_params(align="end")
    detector.interval_ = 0.1
    return detector
