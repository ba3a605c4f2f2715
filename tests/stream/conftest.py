"""The tolerance that the docstring of ``axonad.stream`` promises."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from axonad.stream import TOLERANCE

NAMES = ["speed", "yaw_rate", "torque"]


def assert_close(found, expected):
    """Compare scores, components or attributions of two ways of computing them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= TOLERANCE * np.maximum(1, np.abs(expected))).all()


@pytest.fixture
def timed(fitted):
    """The small fitted detector, as if its training series had had ten rows per second."""
    detector = copy(fitted).set_params(align="end")
    detector.interval_ = 0.1
    return detector
