"""Candidates for context: what several recordings show, and what a single one can."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.data.context_candidates import find_candidates
from tests.conftest import waves

NAMES = ("speed", "ambient", "odometer", "coolant", "fuel")


def drive(ambient, odometer, rows=600, seed=0):
    """A recording in which the coolant warms up and the ambient temperature hardly moves."""
    steps = np.arange(rows)
    speed = waves(rows, 1, seed=seed)[:, 0]
    return np.column_stack(
        [
            speed,
            ambient + 2 * np.sin(steps / 200),
            odometer + 10 * np.cumsum(speed > 0),
            20 + 70 * np.minimum(steps / 150, 1),
            50 - steps // 60,
        ]
    )


def found(*recordings, names=NAMES):
    return {candidate.channel: candidate.why for candidate in find_candidates(recordings, names)}


def test_one_recording_tells_what_only_rises_or_falls():
    assert found(drive(20, 1000)) == {"odometer": "only rises", "fuel": "only falls"}


def test_several_recordings_tell_what_differs_between_them():
    drives = drive(24, 1000), drive(5, 20000, seed=1), drive(-6, 33000, rows=300, seed=2)
    assert found(*drives) == {
        "ambient": "changes slowly within a recording and differs between them",
        "odometer": "only rises",
        "fuel": "only falls",
    }


def test_the_same_day_says_nothing_about_the_temperature():
    assert "ambient" not in found(drive(20, 1000), drive(20.5, 1100, seed=1))


@pytest.mark.parametrize("rows", [1, 99])
def test_short_recordings_say_nothing(rows):
    assert found(drive(20, 1000, rows=rows)) == {}
    assert found() == {}


def test_sentence_and_channels_without_names():
    candidate, _ = find_candidates([drive(20, 1000)], None)
    assert str(candidate) == (
        "2 only rises; if it only sets the scene, name it as context (--context 2)"
    )


def test_waves_and_constants_are_no_candidates():
    X = waves(500)
    X[:, 1] = 3.0
    assert found(X, X, names=None) == {}
