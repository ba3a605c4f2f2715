"""Series with gaps: no window reaches across one, whole or in chunks."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from axonad import AxonAD, make_detector
from axonad.alarmed import RecordedEvents
from axonad.data.holding import SeriesFiller, hold_missing
from axonad.data.series import Series
from axonad.errors import DataWarning, InputError
from axonad.stream.chunks import check_chunks, score_chunks
from tests.conftest import SMALL, waves
from tests.stream.conftest import NAMES, assert_close

WINDOW = 16


def series(rows=200, *, gaps=(), step=0.1, seed=1):
    """A series with an hour's pause before each of the rows ``gaps``."""
    times = np.arange(rows) * step
    for row in gaps:
        times[row:] += 3600
    return Series(values=waves(rows, seed=seed), channels=tuple(NAMES), times=times, name="x.csv")


@pytest.fixture(scope="module")
def detectors():
    train = series(500, seed=0)
    statistics = make_detector("WindowStatistics", lengths=(WINDOW,), contamination=0.02)
    return {"AxonAD": AxonAD(**SMALL).fit(train), "WindowStatistics": statistics.fit(train)}


@pytest.fixture(params=["AxonAD", "WindowStatistics"])
def detector(request, detectors):
    return detectors[request.param]


def assert_same(found, expected):
    """Equal within the tolerance, with NaN in the same places."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    assert_close(np.nan_to_num(found), np.nan_to_num(expected))


def quietly(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return function(*arguments)


def test_the_interval_of_training_is_part_of_the_model(detectors, tmp_path):
    assert detectors["AxonAD"].interval_ == pytest.approx(0.1)
    assert AxonAD(**SMALL).fit(waves(100)).interval_ is None
    detectors["WindowStatistics"].save(tmp_path / "m")
    slow = series(step=0.5)
    with pytest.raises(InputError, match=r"rows are 0\.5 s apart, in training"):
        detectors["WindowStatistics"].decision_function(slow)


def test_each_stretch_is_scored_as_if_alone(detector):
    whole = series(gaps=(90, 100))
    with pytest.warns(DataWarning) as said:
        found = detector.explain(whole)
    assert [str(warning.message) for warning in said] == [
        "x.csv: 2 gaps in time, first before row 90, the longest 3600.1 s; no window reaches "
        "across it",
        "x.csv: 10 of 200 rows get no score: values are missing there, or fewer than 16 rows "
        "follow one another without a gap",
    ]
    for part in (slice(0, 90), slice(100, 200)):
        alone = detector.explain(whole.values[part])
        assert_close(found.scores[part], alone.scores)
        for name, values in alone.components.items():
            assert_close(found.components[name][part], values)
    assert np.isnan(found.scores[90:100]).all()
    assert found.cuts == (90, 100)
    np.testing.assert_array_equal(quietly(detector.decision_function, whole), found.scores)
    assert quietly(detector.predict, whole)[90:100].tolist() == [0] * 10


def test_no_event_spans_a_gap():
    detector = make_detector("WindowStatistics", lengths=(4,), contamination=0.02)
    detector.fit(series(500, seed=0))
    loud = series(gaps=(100,))
    loud.values[90:110] += 50
    events = [(e.start, e.end) for e in quietly(lambda: detector.events(loud, gap=4))]
    assert (90, 100) in [(max(start, 90), end) for start, end in events]
    assert any(start == 100 for start, _ in events)


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_chunks_equal_the_whole(detector, size):
    whole = series(gaps=(30, 41, 120))
    whole.values[60, 0] = np.nan
    whole.values[150:170, 1] = np.nan
    whole.values[118:124] += 9
    held = hold_missing(whole, max_hold=3)
    expected = quietly(detector.explain, held)

    def chunks():
        filler = SeriesFiller(3)
        for start in range(0, len(whole), size):
            yield filler.fill(whole.rows(start, start + size))

    checked = quietly(check_chunks, detector, chunks())
    events = RecordedEvents(detector, keep_all=True)
    parts = []
    for part, found in score_chunks(detector, chunks(), checked.stretches):
        events.add(found, times=part.times)
        parts.append(found)
    assert_same(np.concatenate([part.scores for part in parts]), expected.scores)
    for name, values in expected.components.items():
        assert_same(np.concatenate([part.components[name] for part in parts]), values)
    whole_events = [(e.start, e.end, e.channels) for e in expected.events(gap=4)]
    found_events = [e.event for e in events.finish().events]
    assert [(e.start, e.end, e.channels) for e in found_events] == whole_events


def test_stretches_all_shorter_than_a_window_are_refused(detector):
    short = series(40, gaps=tuple(range(10, 40, 10)))
    with (
        pytest.warns(DataWarning, match="3 gaps"),
        pytest.raises(InputError, match="the longest of 4 stretches between gaps has 10 rows"),
    ):
        detector.decision_function(short)


def test_parity_scales_the_whole_series_and_says_that_windows_reach_across():
    parity = AxonAD.paper(**SMALL).fit(series(300, seed=0))
    with pytest.warns(DataWarning, match="1 gap in time.*; windows reach across it"):
        scores = parity.decision_function(series(gaps=(100,)))
    np.testing.assert_array_equal(scores, parity.decision_function(series().values))


def test_training_says_what_is_odd_about_its_times():
    statistics = make_detector("WindowStatistics", lengths=(WINDOW,))
    with pytest.warns(DataWarning, match="1 gap in time, first before row 100"):
        statistics.fit(series(gaps=(100,)))
    with pytest.raises(InputError, match="time runs backwards at 199 of 200 rows"):
        statistics.fit(replace(series(), times=series().times[::-1]))
    missing = replace(series(), unusable=np.arange(200) < 20)
    with pytest.warns(DataWarning, match="20 of 200 rows have missing values and are not learned"):
        assert len(statistics.fit(missing).decision_scores_) == 180
