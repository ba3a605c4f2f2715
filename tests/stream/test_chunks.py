"""Scoring in chunks: the scores and events of the whole series, in bounded memory."""

from __future__ import annotations

import tracemalloc
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from axonad import AxonAD, make_detector
from axonad.alarmed import SHOWN, RecordedEvents
from axonad.alarms.finder import EventFinder
from axonad.alarms.policy import AlarmPolicy
from axonad.data.series import Series
from axonad.errors import ChannelError, ConfigError, InputError
from axonad.registry import REGISTRY
from axonad.stream.chunks import CheckedChunks, check_chunks, score_chunks
from tests.conftest import waves
from tests.quick import QUICK
from tests.stream.conftest import NAMES, assert_close

# RandomScore draws by the number of a row in the array it is given
CHUNKABLE = [entry.name for entry in REGISTRY if entry.name != "RandomScore"]


def series(rows, seed=1):
    values = waves(rows, seed=seed)
    values[rows // 2 : rows // 2 + 6, 1] += 5
    return Series(values=values, channels=tuple(NAMES), times=np.arange(rows) / 10)


def cut(whole, size):
    return [whole.rows(start, start + size) for start in range(0, len(whole), size)]


def assert_equal_to_whole(detector, whole, size):
    expected = detector.explain(whole)
    parts = list(score_chunks(detector, cut(whole, size)))
    np.testing.assert_array_equal(np.concatenate([s.times for s, _ in parts]), whole.times)
    assert_close(np.concatenate([found.scores for _, found in parts]), expected.scores)
    for name, values in expected.components.items():
        assert_close(np.concatenate([found.components[name] for _, found in parts]), values)
    if expected.blame is not None:
        assert_close(np.concatenate([found.blame for _, found in parts]), expected.blame)


@pytest.mark.parametrize("align", ["center", "end"])
@pytest.mark.parametrize("size", [1, 5, 15, 16, 17, 40, 100, 199, 200, 201, 1000])
def test_equal_to_whole(fitted, size, align):
    detector = copy(fitted).set_params(align=align)
    for rows in (16, 17, 31, 200):
        assert_equal_to_whole(detector, series(rows), size)


@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("name", CHUNKABLE)
def test_every_causal_detector_can_be_chunked(name, size, detectors):
    detector = detectors(name)
    if detector.is_causal:
        assert_equal_to_whole(detector, series(130), size)
    else:
        with pytest.raises(ConfigError, match=f"{name} cannot score in chunks as it was fitted"):
            next(score_chunks(detector, cut(series(130), size)))


@pytest.fixture(scope="module")
def detectors():
    """Fitted detectors by name, each fitted once."""
    known = {}

    def get(name):
        if name not in known:
            X = waves(300)
            known[name] = make_detector(name, **QUICK.get(name, {})).fit(X)
        return known[name]

    return get


@pytest.mark.parametrize("align", ["center", "end", "mean"])
@pytest.mark.parametrize("size", [3, 12, 64])
def test_all_alignments_of_windows(detectors, align, size):
    detector = detectors("KMeansAD")
    before = detector.align
    try:
        assert_equal_to_whole(detector.set_params(align=align), series(150), size)
    finally:
        detector.set_params(align=before)


def test_detectors_that_cannot_score_in_chunks(small):
    detector = AxonAD.paper(**small).fit(waves(200))
    with pytest.raises(ConfigError, match="scaling needs the whole series; fit it with scaling="):
        check_chunks(detector, cut(series(100), 20))


def test_errors_name_the_row_of_the_series(fitted):
    whole = series(100)
    whole.values[77, 1] = np.nan
    message = "first at row 77, channel 'yaw_rate'; drop those rows or fill them"
    for act in (check_chunks, lambda *words: list(score_chunks(*words))):
        with pytest.raises(InputError, match=message):
            act(fitted, cut(whole, 30))
        with pytest.raises(InputError, match="window must be at most the series length 15, got 16"):
            act(fitted, cut(series(15), 4))
    other = Series(values=waves(50), channels=("speed", "yaw_rate", "x"))
    with pytest.raises(ChannelError, match="channel 'x' not in model"):
        check_chunks(fitted, [other])
    assert check_chunks(fitted, cut(series(100), 30)) == CheckedChunks(100, None)


@pytest.mark.parametrize("size", [1, 3, 10, 400])
@pytest.mark.parametrize("gap", [0, 2, 9])
def test_events_equal_those_of_the_whole(detectors, size, gap):
    detector = detectors("CrossChannelRidge")
    rng = np.random.default_rng(3)
    whole = series(400)
    whole.values[rng.random(400) < 0.2] += rng.normal(size=3) * 2
    expected = detector.explain(whole).events(gap=gap)
    finder = EventFinder(
        AlarmPolicy(start=detector.threshold_, merge_gap=gap), names=detector.channel_names
    )
    changes = []
    for _, found in score_chunks(detector, cut(whole, size)):
        changes += finder.add(found.scores, attribution=found.blame.__getitem__, cuts=found.cuts)
    changes += finder.finish()
    got = [change.event.plain for change in changes if change.what == "final"]
    assert len(got) > 3
    assert [replace(e, score=0.0) for e in got] == [replace(e, score=0.0) for e in expected]
    np.testing.assert_allclose(  # this detector computes in float64
        [event.score for event in got], [event.score for event in expected], rtol=1e-9
    )


def test_the_strongest_events_are_listed_with_their_times_unless_all_are_wanted():
    detector = make_detector("PCA", window=1).fit(waves(300))
    values = waves(1000, seed=2)
    values[::4] += 5 + np.arange(250)[:, None]
    whole = Series(values=values, channels=("a", "b", "c"), times=np.arange(1000) / 10)
    for keep_all, kept in ((True, 250), (False, SHOWN)):
        recording = RecordedEvents(detector, keep_all=keep_all)
        for part, found in score_chunks(detector, cut(whole, 90)):
            recording.add(found, times=part.times)
        listed = recording.finish()
        assert (listed.count, len(listed.events), listed.steps) == (250, kept, 1000)
        assert (listed.events[-1].event.start, listed.events[-1].begins) == (996, 99.6)


def test_memory_is_bounded_by_the_chunk(detectors):
    detector = detectors("CrossChannelRidge")

    def chunks(count):
        for seed in range(count):
            values = np.random.default_rng(seed).normal(size=(2_000, 3))
            yield Series(values=values, channels=tuple(NAMES))

    def peak(count):
        tracemalloc.start()
        try:
            recording = RecordedEvents(detector)
            for part, found in score_chunks(detector, chunks(count)):
                recording.add(found, times=part.times)
            recording.finish()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)
    assert peak(60) < 1.5 * peak(6)
