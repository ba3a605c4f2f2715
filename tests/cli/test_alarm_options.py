from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from axonad.cli.alarm_options import apply_threshold
from axonad.errors import ConfigError
from axonad.threshold import set_threshold
from tests.conftest import waves


@pytest.fixture
def detector():
    return make_detector("ControlChart", memory=0.5, threshold="quantile").fit(waves(300))


def test_the_threshold_is_set(detector):
    before = detector.threshold_
    apply_threshold(detector, None, None)
    assert detector.threshold_ == before
    apply_threshold(detector, -2.5, None)
    assert detector.threshold_ == -2.5
    apply_threshold(detector, None, 0.1)
    assert detector.threshold_ == set_threshold(
        detector.decision_scores_, rule="quantile", rate=0.1
    )
    assert np.mean(detector.labels_) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("threshold", "rate", "message"),
    [
        (1.0, 0.1, "--threshold and --alarm-rate both set the threshold; leave out one"),
        (float("nan"), None, "--threshold must be a finite number, got nan"),
        (float("inf"), None, "--threshold must be a finite number, got inf"),
        (None, 0.0, "--alarm-rate must be above 0 and below 0.5, got 0.0"),
        (None, 0.5, "--alarm-rate must be above 0 and below 0.5, got 0.5"),
        (None, float("nan"), "--alarm-rate must be above 0 and below 0.5, got nan"),
    ],
)
def test_nonsense_is_refused(detector, threshold, rate, message):
    before = detector.threshold_
    with pytest.raises(ConfigError, match=message):
        apply_threshold(detector, threshold, rate)
    assert detector.threshold_ == before
