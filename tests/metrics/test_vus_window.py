import math

import numpy as np
import pytest

from axonad import errors
from axonad.metrics import choose_window, evaluate, extend_labels, find_period

SCORES = [0.1, 0.4, 0.9, 0.8, 0.2, 0.3, 0.7, 0.1]
LABELS = [0, 0, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("period", "released", "newer"),
    [(5, 125, 5), (6, 6, 6), (303, 303, 303), (304, 125, 125)],
)
def test_the_window_rules_at_their_limits(period, released, newer):
    spikes = (np.arange(3000) % period == 0).astype(float)
    assert find_period(spikes, rule="tsb-ad-1.5") == released
    assert find_period(spikes, rule="tsb-ad-2026") == newer


def test_a_channel_without_a_period_gets_the_fallback():
    assert find_period(np.ones(50)) == 125
    assert find_period(np.arange(50)) == 125


@pytest.mark.parametrize("window", [-1, 1.5, True, [3]])
def test_bad_windows_are_refused(window):
    with pytest.raises(errors.ConfigError, match="window must be a whole number of steps"):
        evaluate(SCORES, LABELS, window=window)
    with pytest.raises(errors.ConfigError, match="window must be a whole number of steps"):
        extend_labels(LABELS, window)


def test_bad_rules_and_channels_are_refused():
    with pytest.raises(errors.UnknownNameError, match=r"did you mean 'tsb-ad-1\.5'"):
        choose_window("tsb-ad-1.4", channel=SCORES)
    with pytest.raises(errors.InputError, match="needs a channel, got none"):
        choose_window("tsb-ad-2026")
    with pytest.raises(errors.InputError, match=r"one column of numbers, got shape \(4, 2\)"):
        find_period(np.zeros((4, 2)))
    with pytest.raises(errors.InputError, match="channel must be finite, got nan at step 1"):
        find_period([1.0, math.nan])
    with pytest.raises(errors.UnknownNameError, match="not known"):
        find_period(SCORES, rule="weekly")
