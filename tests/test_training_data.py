"""What ``fit`` makes of several recordings, and of a recording with gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
import torch

from axonad import AxonAD, Series, fit_many
from axonad.detector import Detector
from axonad.errors import ChannelError, DataWarning, InputError
from axonad.registry import load, make_detector
from axonad.training_data import gather, is_set
from tests.conftest import SMALL, waves

NAMES = ("a", "b", "c")


def drive(rows: int = 80, seed: int = 0, *, name: str = "series", gap: int | None = None) -> Series:
    times = np.arange(rows) / 10
    if gap is not None:
        times[gap:] += 60
    return Series(values=waves(rows, seed=seed), channels=NAMES, times=times, name=name)


def far(rows: int = 80, seed: int = 1) -> np.ndarray:
    """Return rows that are far from all others, so that a window across would stand out."""
    return waves(rows, seed=seed) + 100


# -- what is a set of recordings -----------------------------------------------------------------


def test_lists_of_rows_are_one_series_as_before():
    rows = waves(80).tolist()
    assert not is_set(rows)
    pca = make_detector("PCA", window=4)
    np.testing.assert_array_equal(
        pca.fit(rows).decision_scores_,
        make_detector("PCA", window=4).fit(waves(80)).decision_scores_,
    )
    assert not is_set(waves(80)) and not is_set([1.0, 2.0]) and not is_set([])
    assert is_set((waves(8), pd.DataFrame(waves(8)), drive(8)))
    with pytest.raises(InputError, match="recording 2 of 2 must be a Series, a frame or an array"):
        pca.fit([waves(80), rows])
    with pytest.raises(InputError, match="two dimensions"):
        pca.fit([rows, rows])


def test_channels_are_matched_by_name_and_differences_named():
    frames = [pd.DataFrame(waves(80, seed=i), columns=list(NAMES)) for i in range(2)]
    turned = [frames[0], frames[1][["c", "a", "b"]]]
    np.testing.assert_array_equal(
        gather(frames, history=4).values, gather(turned, history=4).values
    )
    with pytest.raises(ChannelError, match="recording 2, unlike recording 1: X lacks channel 'c'"):
        gather([frames[0], frames[1][["a", "b"]]], history=4)
    broken = replace(drive(name="x.csv"), values=np.where(np.eye(80, 3) > 0, np.nan, 1.0))
    with pytest.raises(InputError, match=r"x\.csv: X has 3 NaN or infinite values, first at row 0"):
        gather([drive(), broken], history=4)
    slow = replace(drive(name="slow.csv"), times=np.arange(80.0))
    with pytest.raises(
        InputError, match=r"rows of recording 1 are 0.1 s apart, those of slow\.csv 1"
    ):
        gather([drive(), slow], history=4)


def test_short_recordings_are_named_and_left_out():
    pca = make_detector("PCA", window=20)
    recordings = [drive(name="long.csv"), drive(19, name="short.csv"), drive(80, 1, gap=70)]
    with pytest.warns(DataWarning) as caught:
        pca.fit(recordings)
    said = [str(warning.message) for warning in caught]
    assert "left out, shorter than the 20 rows of a window: short.csv (19 rows)" in said
    assert any("recording 3: 10 rows are not learned from" in text for text in said)
    assert pca.recordings_.lengths == (80, 70)
    assert len(pca.decision_scores_) == 150
    with pytest.raises(InputError, match=r"got 20; too short: short\.csv \(19 rows\), recording 2"):
        pca.fit([drive(19, name="short.csv"), drive(10)])


def test_detectors_that_do_not_divide_are_given_one_series():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Own(Detector):
        @property
        def history(self):
            return 5

        def _fit(self, X, names):
            assert self.recordings_.is_one
            return np.zeros(len(X))

        def _score(self, X):
            return np.zeros(len(X))

    with pytest.raises(InputError, match="Own learns from one recording, got 2: its windows would"):
        Own().fit([waves(80), waves(80)])
    with pytest.warns(DataWarning, match="windows reach across it"):
        assert len(Own().fit(drive(gap=40)).decision_scores_) == 80


# -- windows within recordings -------------------------------------------------------------------


def test_a_gap_divides_like_two_recordings():
    series = drive(160, gap=90)
    with pytest.warns(DataWarning, match="no window reaches across it"):
        gapped = make_detector("PCA", window=20).fit(series)
    apart = make_detector("PCA", window=20).fit([series.rows(0, 90), series.rows(90, 160)])
    np.testing.assert_array_equal(gapped.decision_scores_, apart.decision_scores_)
    assert gapped.fingerprint == apart.fingerprint
    assert gapped.recordings_.whole == (160,)


def test_neighbours_are_the_windows_of_each_recording_and_known_when_scored(tmp_path):
    knn = make_detector("KNN", window=5, units="raw", neighbours=2)
    recordings = [waves(40), far(30)]
    knn.fit(recordings)
    windows = [part[i : i + 5].T.ravel() for part in recordings for i in range(len(part) - 4)]
    np.testing.assert_array_equal(knn._reference, windows)
    knn.save(tmp_path / "m")
    for detector in (knn, load(tmp_path / "m")):
        scored = np.concatenate([detector.decision_function(part) for part in recordings])
        np.testing.assert_array_equal(scored, knn.decision_scores_)


def test_networks_see_no_window_across_and_validate_on_whole_recordings():
    axon = AxonAD(**SMALL)
    data = axon.training_data([waves(60), far(50), waves(70, seed=2)])
    _, _, series, held_out = axon.prepare(data.values, None, torch.device("cpu"), data.recordings)
    assert len(series.rows) == 110
    assert len(held_out.rows) == 70
    expected = [*range(60 - 15), *range(60, 110 - 15)]
    assert series.starts.tolist() == expected
    fitted = axon.fit([waves(60), far(50), waves(70, seed=2)])
    assert fitted.fit_report_.held_out.rows == 70
    assert str(fitted.fit_report_).startswith("3 recordings, 180 rows, 3 channels, 135 windows")


def test_networks_trained_together_take_recordings_too():
    recordings = [waves(60), far(50), waves(70, seed=2)]
    together = fit_many([AxonAD(**SMALL), AxonAD(**SMALL, seed=3)], [recordings, recordings])
    assert [detector.recordings_.lengths for detector in together] == [(60, 50, 70)] * 2


def test_views_hold_out_whole_recordings():
    """A recording unlike the others has high training scores: it was not learned from."""
    others = [waves(150, seed=seed) for seed in range(2)]
    odd = np.random.default_rng(5).normal(size=(150, 3))
    for name in ("Forecast", "Relation", "ShapeMemory"):
        scores = make_detector(name).fit([*others, odd]).decision_scores_
        assert scores[300:].mean() > 2 * scores[:300].mean(), name


def test_a_stray_short_recording_does_not_shorten_the_windows_of_the_shape_memory():
    long = [waves(400, seed=seed) for seed in range(3)]
    shape = make_detector("ShapeMemory")
    with pytest.warns(
        DataWarning, match=r"shorter than the 128 rows of a window: recording 4 \(45"
    ):
        shape.fit([*long, waves(45)])
    assert max(shape.lengths_) == 128
    few = make_detector("ShapeMemory").fit([waves(100, seed=seed) for seed in range(6)])
    assert max(few.lengths_) <= 100


def test_candidates_for_context_come_from_all_recordings():
    recordings = [waves(200, seed=seed) for seed in range(3)]
    for level, part in enumerate(recordings):
        part[:, 1] = 20 * level + np.linspace(0, 0.1, 200)
        part[100:, 1] -= 0.05
    report = make_detector("PCA").fit(recordings).fit_report_
    assert [candidate.channel for candidate in report.candidates] == ["1"]
    assert "differs between them" in str(report)


def test_faults_are_planted_into_several_recordings():
    detector = make_detector("CrossChannelRidge").fit([waves(200), waves(200, seed=1)])
    held_out = [waves(150, seed=2), waves(150, seed=3)]
    result = detector.self_test(held_out, repeats=1, verbose=False)
    assert (result.recording_rows, result.scored_rows) == (300, 300)
    one = detector.self_test(held_out[0], repeats=1, verbose=False)
    assert one.to_json() == detector.self_test(held_out[:1], repeats=1, verbose=False).to_json()
