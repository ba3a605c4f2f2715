from __future__ import annotations

import numpy as np
import pytest

from axonad import AxonAD, make_detector
from axonad.alarmed import RecordedEvents
from axonad.data.scaling import fit_scaler
from axonad.data.series import Series
from axonad.score.blame import fit_channel_scale, withhold
from axonad.stream.chunks import score_chunks
from tests.conftest import SMALL, waves

CHANNELS = ("a", "b", "still", "flag")


def drive(rows: int, seed: int = 0) -> np.ndarray:
    """Waves, a channel that is constantly 0 and a flag that is 1."""
    return np.column_stack([waves(rows, 2, seed), np.zeros(rows), np.ones(rows)])


def make(name: str):
    params = {"AxonAD": SMALL, "USAD": {"epochs": 1, "window": 12, "verbose": False}}
    return make_detector(name, **params.get(name, {}))


def test_the_spread_of_a_channel_has_a_floor():
    rng = np.random.default_rng(0)
    errors = rng.uniform(size=(1000, 4)) * [1.0, 2.0, 0.5, 1e-12]
    X = drive(1000)[:, [0, 1, 0, 2]]
    plain, floored = errors[:, :3].std(0), fit_channel_scale(errors, fit_scaler(X, "soft")).spread
    np.testing.assert_allclose(floored[:3], plain * np.sqrt(12) / 2, rtol=0.1)
    assert floored[3] == pytest.approx(0.1 * np.median(floored[:3]))


def test_blame_is_withheld_in_windows_without_movement():
    scaler = fit_scaler(drive(100), "soft")
    X = drive(6, seed=1)
    X[3, 2] = 1.0
    found = withhold(np.zeros((5, 4)), X, scaler)  # windows of two rows
    assert np.isneginf(found[:, 3]).all()
    assert np.isneginf(found[:, 2]).tolist() == [True, True, False, False, True]
    assert (found[:, :2] == 0).all()


def test_nothing_is_withheld_where_all_channels_moved():
    blame = np.zeros((5, 2))
    assert withhold(blame, waves(6, 2), fit_scaler(waves(100, 2), "soft")) is blame


@pytest.mark.parametrize("name", ["AxonAD", "USAD", "ControlChart", "CrossChannelRidge"])
def test_a_still_channel_is_blamed_if_and_only_if_it_moves(name):
    detector = make(name).fit(Series(values=drive(600), channels=CHANNELS))
    X = drive(400, seed=1)
    X[150:170, 0] += 8.0  # a fault of a channel that moves
    X[150:170, 2] += 1e-4  # and a trifle at the same time
    X[300:320, 3] = 0.0
    whole = Series(values=X, channels=CHANNELS)
    events = detector.events(whole, gap=40, top=4)
    (fault,) = [event for event in events if event.start <= 160 < event.end]
    (flag,) = [event for event in events if event.start <= 310 < event.end]
    assert fault.channels[0] == "a"
    assert set(fault.channels) == {"a", "b"}
    assert flag.channels[0] == "flag"
    assert "still" not in flag.channels
    if detector.is_causal:
        recording = RecordedEvents(detector, keep_all=True)
        for _, found in score_chunks(detector, [whole.rows(0, 155), whole.rows(155)]):
            recording.add(found)
        listed = [timed.event for timed in recording.finish().events]
        for rows, first in (((150, 180), "a"), ((300, 330), "flag")):
            inside = [e for e in listed if e.start < rows[1] and e.end > rows[0]]
            assert any(event.channels[0] == first for event in inside)


@pytest.mark.parametrize("name", ["AxonAD", "ControlChart", "CrossChannelRidge"])
def test_a_trifle_in_a_still_channel_changes_no_score_much(name):
    detector = make(name).fit(drive(600))
    X = drive(300, seed=1)
    moved = X.copy()
    moved[100:150, 2] += 1e-4
    moved[180:230, 3] += 1e-4
    before, after = detector.decision_function(X), detector.decision_function(moved)
    assert np.abs(after - before).max() < 0.25 * detector.threshold_


def test_a_saved_detector_blames_the_same(tmp_path):
    import axonad

    detector = AxonAD(**SMALL).fit(drive(300))
    detector.save(tmp_path / "m")
    X = drive(100, seed=1)
    X[50, 3] = 0
    blame = detector.explain(X).blame
    assert np.isneginf(blame[:, 2]).all()
    assert 0 < np.isfinite(blame[:, 3]).sum() < 100
    np.testing.assert_array_equal(axonad.load(tmp_path / "m").explain(X).blame, blame)
