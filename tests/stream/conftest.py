"""The tolerance that the docstring of ``axonad.stream`` promises."""

from __future__ import annotations

import numpy as np

from axonad.stream import TOLERANCE

NAMES = ["speed", "yaw_rate", "torque"]


def assert_close(found, expected):
    """Compare scores, components or attributions of two ways of computing them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= TOLERANCE * np.maximum(1, np.abs(expected))).all()
