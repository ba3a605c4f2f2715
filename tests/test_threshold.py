from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import ConfigError, InputError
from axonad.threshold import THRESHOLDS, set_threshold

rng = np.random.default_rng(0)


@pytest.mark.parametrize("rule", THRESHOLDS)
@pytest.mark.parametrize("draw", [rng.normal, rng.exponential, rng.standard_t])
def test_the_rate_holds_on_fresh_scores(rule, draw):
    args = (4,) if draw == rng.standard_t else ()
    threshold = set_threshold(draw(*args, size=20_000), rule=rule, rate=0.005)
    fresh = (draw(*args, size=200_000) > threshold).mean()
    assert 0.003 < fresh < 0.007


def test_pot_reaches_beyond_the_training_series():
    """At a rate rarer than one in n the quantile is stuck at the maximum; the tail goes on."""
    levels = []
    for seed in range(20):
        scores = np.random.default_rng(seed).exponential(size=5_000)
        levels.append(set_threshold(scores, rule="pot", rate=1e-5))
        assert set_threshold(scores, rule="quantile", rate=1e-5) <= scores.max()
    assert 10.5 < np.mean(levels) < 13.5, "the true level is 11.5"


def test_conformal_refuses_what_the_data_cannot_support():
    with pytest.raises(ConfigError, match=r"at contamination 0\.001 needs at least 999"):
        set_threshold(np.arange(100.0), rule="conformal", rate=0.001)
    assert set_threshold(np.arange(999.0), rule="conformal", rate=0.001) == 998.0


@pytest.mark.parametrize("rule", THRESHOLDS)
def test_constant_scores(rule):
    assert set_threshold(np.zeros(2_000), rule=rule, rate=0.01) == 0.0


def test_no_scores():
    with pytest.raises(InputError, match="from 0 training scores"):
        set_threshold(np.array([]), rule="quantile", rate=0.01)
