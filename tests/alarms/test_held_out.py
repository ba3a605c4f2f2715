"""Held-out scores: what is fitted on what, and that nothing is learned from what is scored."""

from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from axonad.alarms.held_out import score_left_out, score_new
from axonad.baselines.pca import PCA
from axonad.data.series import Series
from axonad.errors import ConfigError, InputError
from tests.conftest import waves

NAMES = ("a", "b", "c")


def pca(**params):
    return make_detector("PCA", **({"window": 4, "align": "end"} | params))


@pytest.fixture
def learned(monkeypatch):
    """The matrices detectors are fitted on while the test runs."""
    seen, fit = [], PCA._fit

    def record(self, X, names):
        seen.append(X.copy())
        return fit(self, X, names)

    monkeypatch.setattr(PCA, "_fit", record)
    return seen


def numbered(rows, first=0):
    """Rows that can be recognised: the first channel is their number."""
    X = waves(rows)
    X[:, 0] = np.arange(first, first + rows)
    return X


def test_each_recording_is_left_out_in_turn(learned):
    recordings = [numbered(60), numbered(50, 1000), numbered(40, 2000)]
    found = score_left_out(pca(), recordings)
    assert [len(one.scores) for one in found] == [60, 50, 40]
    assert [one.name for one in found] == ["recording 1", "recording 2", "recording 3"]
    for matrix, out in zip(learned, recordings, strict=True):
        assert not set(matrix[:, 0]) & set(out[:, 0])
        assert len(matrix) == 150 - len(out)
    expected = pca().fit([recordings[0], recordings[2]]).decision_function(recordings[1])
    np.testing.assert_allclose(found[1].scores[3:], expected[3:])
    assert np.isnan(found[1].scores[:3]).all(), "a stream has no score before its first window"


def test_few_folds_leave_several_out_together(learned):
    found = score_left_out(pca(), [numbered(40, 1000 * i) for i in range(5)], folds=2)
    assert [len(matrix) for matrix in learned] == [80, 120]
    assert len(found) == 5


def test_one_recording_is_held_out_in_stretches_with_a_gap(learned):
    X = numbered(100)
    found = score_left_out(pca(), [X], folds=5)
    assert [len(one.scores) for one in found] == [20] * 5
    assert found[1].name == "recording 1, rows 20 to 39"
    assert learned[1][:, 0].tolist() == [*range(16), *range(44, 100)]


def test_rows_that_are_unusable_are_not_learned_from(learned):
    X = numbered(100)
    unusable = np.zeros(100, dtype=bool)
    unusable[50:55] = True
    X[50:55, 1] = np.nan
    X = np.where(np.isnan(X), 0.0, X)
    series = Series(values=X, channels=NAMES, unusable=unusable, name="drive")
    with pytest.warns(UserWarning, match="5 of 20 rows get no score"):
        found = score_left_out(pca(), [series])
    assert all(not set(matrix[:, 0]) & set(range(50, 55)) for matrix in learned)
    assert np.isnan(found[2].scores[10:18]).all()
    learned.clear()
    with pytest.warns(UserWarning, match="5 of 100 rows get no score"):
        score_left_out(pca(), [series, series])
    assert [len(matrix) for matrix in learned] == [95, 95]


def test_a_fitted_detector_scores_new_recordings_without_fitting(learned):
    detector = pca().fit(waves(80))
    learned.clear()
    times = np.concatenate([np.arange(30), 500 + np.arange(30)]).astype(float)
    series = Series(values=waves(60), channels=NAMES, times=times, name="drive")
    with pytest.warns(UserWarning, match="1 gap in time"):
        (found,) = score_new(detector, [series])
    assert learned == []
    assert (found.name, found.cuts, found.steps) == ("drive", (30,), 54)
    assert found.times is series.times


def test_bad_input():
    with pytest.raises(InputError, match="recording 1 has 30 rows, too few for 5 held-out stretch"):
        score_left_out(pca(), [waves(30)])
    with pytest.raises(InputError, match="recording 1 cannot be used for calibration: window must"):
        score_new(pca().fit(waves(50)), [waves(3)])
    with pytest.raises(InputError, match="at least one recording"):
        score_left_out(pca(), [])
    with pytest.raises(ConfigError, match="folds must be at least 2, got 1"):
        score_left_out(pca(), [waves(100)], folds=1)
