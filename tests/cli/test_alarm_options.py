"""The options that move the threshold."""

from __future__ import annotations

import pytest

from axonad import make_detector
from axonad.cli.alarm_options import apply_threshold
from axonad.errors import ConfigError
from axonad.threshold import set_threshold
from tests.conftest import waves


@pytest.fixture
def detector():
    return make_detector("ControlChart").fit(waves(300))


def test_a_threshold_or_a_rate_is_applied(detector):
    before = detector.threshold_
    apply_threshold(detector, None, None)
    assert detector.threshold_ == before
    apply_threshold(detector, 1.5, None)
    assert detector.threshold_ == 1.5
    apply_threshold(detector, None, 0.1)
    assert detector.threshold_ == set_threshold(detector.decision_scores_, rule="pot", rate=0.1)
    assert 0.05 < detector.labels_.mean() < 0.15


@pytest.mark.parametrize(
    ("threshold", "rate", "message"),
    [
        (1.0, 0.1, "--threshold and --alarm-rate exclude each other"),
        (float("nan"), None, "--threshold must be a finite number, got nan"),
        (None, 0.0, "--alarm-rate must lie between 0 and 0.5, got 0.0"),
        (None, 1.0, "--alarm-rate must lie between 0 and 0.5"),
    ],
)
def test_nonsense_is_refused(detector, threshold, rate, message):
    with pytest.raises(ConfigError, match=message):
        apply_threshold(detector, threshold, rate)
