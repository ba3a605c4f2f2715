"""The tolerance that the docstring of ``axonad.stream`` promises."""

from __future__ import annotations

import numpy as np

NAMES = ["speed", "yaw_rate", "torque"]


def assert_close(found, expected):
    """Compare scores, components or attributions of two ways of computing them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= 1e-4 * np.maximum(1, np.abs(expected))).all()
