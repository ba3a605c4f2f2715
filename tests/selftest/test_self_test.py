"""``detector.self_test``: counts, seeds, limits and messages."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from axonad.baselines.ridge import CrossChannelRidge
from axonad.data.series import Series
from axonad.errors import DataWarning
from axonad.registry import make_detector
from axonad.selftest import KINDS, Scorer, rank_faults
from axonad.selftest import trial as trial_module
from axonad.selftest.result import Row, SelfTest
from tests.conftest import waves

NAMES = ("speed", "yaw_rate", "torque")


@pytest.fixture(scope="module")
def ridge():
    series = Series(values=waves(900, seed=1), channels=NAMES)
    return make_detector("CrossChannelRidge", smooth=4).fit(series)


def recording(rows=800, **options):
    return Series(values=waves(rows, seed=2), channels=NAMES, **options)


def test_large_faults_are_found_and_small_ones_are_not(ridge):
    found = ridge.self_test(recording(times=np.arange(800) / 10), repeats=4, sizes=(0.01, 4, 400))
    assert found.channels == NAMES
    assert found.kinds == tuple(KINDS)
    assert len(found.rows) == 3 * (5 * 3 + 3)
    for channel in NAMES:
        for kind in ("shifted", "noisy", "drifting", "spiking", "scaled"):
            rows = [r for r in found.rows if (r.channel, r.kind) == (channel, kind)]
            assert [r.size for r in rows] == [0.01, 4, 400]
            assert rows[0].found == 0
            assert rows[2].found == rows[2].plantings == 4
            assert found.smallest(channel, kind) in (4, 400)
    assert found.cell("speed", "shifted").median_delay <= 3
    assert 0 < found.share("shifted") < 1
    assert found.false_alarms_per_hour == pytest.approx(3600 * found.false_alarms / 79.7)
    assert found.durations[0] == 5


def test_the_same_seed_gives_the_same_result(ridge):
    one = ridge.self_test(recording(), repeats=3, seed=5)
    assert one.as_dict() == ridge.self_test(recording(), repeats=3, seed=5).as_dict()
    assert one.rows != ridge.self_test(recording(), repeats=3, seed=6).rows


def test_the_time_limit_makes_fewer_repeats_and_says_so(ridge, monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(trial_module.time, "monotonic", lambda: next(clock))
    with pytest.warns(DataWarning, match="2 of 9 repeats were made within the time limit of 25 s"):
        found = ridge.self_test(recording(), repeats=9, seconds=25)
    assert found.repeats == 2
    monkeypatch.undo()
    assert found.rows == ridge.self_test(recording(), repeats=2).rows


def test_labels_are_ignored_and_the_recording_stays_as_it_is(ridge):
    plain, labelled = recording(), recording(labels=np.ones(800, dtype=np.int8))
    found = ridge.self_test(labelled, repeats=1)
    assert found.rows == ridge.self_test(plain, repeats=1).rows
    np.testing.assert_array_equal(labelled.values, plain.values)


def test_constant_channels_are_left_out(ridge):
    X = recording()
    X.values[:, 1] = 0.5
    with (
        pytest.warns(DataWarning, match="in alarm before anything is planted"),
        pytest.warns(DataWarning, match="left out, because constant in the recording.*: yaw_rate"),
        pytest.raises(ValueError, match=r"no room to plant a fault of 5 rows.*in alarm"),
    ):
        ridge.self_test(X, repeats=1)
    flat = make_detector("HBOS", contamination=0.01).fit(X)
    with pytest.warns(DataWarning, match="left out, because constant"):
        found = flat.self_test(X, repeats=1)
    assert found.channels == ("speed", "torque")
    with pytest.raises(ValueError, match="channel 'yaw_rate' is constant in the recording"):
        flat.self_test(X, channels=["yaw_rate"])


def test_missing_rows_are_avoided(ridge):
    lost = np.zeros(800, dtype=bool)
    lost[300:320] = True
    times = np.arange(800) / 10.0
    times[600:] += 500
    with pytest.warns(DataWarning):
        found = ridge.self_test(recording(unusable=lost, times=times), repeats=2)
    assert found.scored_rows == 800 - 20 - 3 * 3
    assert found.cell("speed", "shifted").plantings == 2


class Parity(CrossChannelRidge):
    """Says that its scores depend on the whole recording."""

    why_not_causal = "it looks ahead"


def test_an_array_without_names_and_a_detector_that_is_not_causal(ridge):
    detector = Parity(smooth=4).fit(waves(900, seed=1))
    settings = {"repeats": 2, "channels": ["2"], "longest": 40}
    with pytest.warns(DataWarning, match=r"plantings may .* each other.*it looks ahead"):
        found = detector.self_test(recording().values, **settings)
    assert found.channels == ("2",)
    causal = ridge.self_test(recording(), **settings | {"channels": ["torque"]})
    assert [row.found for row in found.rows] == [row.found for row in causal.rows]


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        (9, {}, "no room to plant a fault of 5 rows: expected at least 11 rows without a gap"),
        (800, {"kinds": "frozen"}, "kinds must be a tuple with at least one entry, got 'frozen'"),
        (800, {"kinds": ["frozn"]}, "did you mean 'frozen'"),
        (800, {"sizes": (2, 1)}, r"sizes must ascend, got \(2, 1\)"),
        (800, {"sizes": (0, 1)}, "sizes must be above 0, got 0"),
        (800, {"channels": ["spee"]}, "channel 'spee' not in model; did you mean 'speed'"),
        (800, {"repeat": 3}, "no parameter 'repeat'; did you mean 'repeats'"),
        (800, {"longest": 3}, "longest must be at least 5, got 3"),
        (800, {"seconds": 0}, "seconds must be above 0, got 0"),
    ],
)
def test_messages(ridge, rows, settings, message):
    with pytest.raises(ValueError, match=message):
        ridge.self_test(recording(rows), **settings)


def test_faults_are_shortened_to_the_room(ridge):
    with pytest.warns(DataWarning, match="at most 24 rows long instead of 100"):
        found = ridge.self_test(recording(30), repeats=1, longest=100, kinds=["noisy"])
    assert found.durations == (5, 24)


def result_of(*found: tuple[float | None, int]) -> SelfTest:
    rows = [
        Row(channel="a", kind="noisy" if size else "frozen", size=size, plantings=10, found=count,
            median_delay=3.0 if count else None)
        for size, count in found
    ]  # fmt: skip
    return SelfTest(
        detector="X", threshold=1.0, history=4, channels=("a",), kinds=("noisy", "frozen"),
        sizes=(1.0, 2.0, 4.0), units={"a": 0.5}, durations=(5, 9), repeats=10, seed=1,
        rows=tuple(rows), recording_rows=2010, scored_rows=2000, alarm_rows=30, false_alarms=3,
        interval=None,
    )  # fmt: skip


def test_the_smallest_size_is_found_as_all_larger_ones_are():
    found = result_of((1.0, 9), (2.0, 8), (4.0, 10), (None, 9))
    assert found.smallest("a", "noisy") == 4
    assert found.cell("a", "frozen").is_found
    assert found.smallest("a", "frozen") is None
    assert found.blind == ()
    assert result_of((1.0, 9), (2.0, 9), (4.0, 10)).smallest("a", "noisy") == 1
    never = result_of((1.0, 0), (2.0, 2), (4.0, 8), (None, 0))
    assert never.smallest("a", "noisy") is None
    assert [(cell.kind, cell.share) for cell in never.blind] == [("noisy", 0.8), ("frozen", 0.0)]
    with pytest.raises(ValueError, match="no faults of kind 'drifting' were planted in channel"):
        found.cell("a", "drifting")


def test_the_result_as_json_csv_frame_and_text():
    found = result_of((1.0, 9), (2.0, 9), (4.0, 10), (None, 0))
    document = json.loads(found.to_json())
    assert document["false_alarms_per_10000"] == 15
    assert document["false_alarms_per_hour"] is None
    assert document["summary"][0]["smallest"] == 1
    assert document["rows"] == [dataclasses.asdict(row) for row in found.rows]
    frame = found.to_frame()
    assert frame.columns == list(document["rows"][0])
    assert pl.read_csv(found.to_csv().encode()).equals(frame)
    assert "1 of 2 combinations of channel and kind found" in str(found)
    assert "3 false alarms in 2000 clean rows (15.0 per 10,000 rows; 30 rows in alarm)" in str(
        found
    )


def test_ranking_compares_detectors_without_a_threshold(ridge):
    def score(rows):
        return ridge.score_ends(rows)[0]

    scorers = {
        "ridge": Scorer(score, 4),
        "other scale": Scorer(lambda rows: 7 * score(rows) ** 3, 4),
        "blind": Scorer(lambda rows: np.zeros(len(rows) - 19), 20),
    }
    found = rank_faults(scorers, waves(800, seed=2), sizes=(1.0, 2.0))
    assert set(found["ridge"]) == set(KINDS)
    assert min(found["ridge"][kind] for kind in ("shifted", "noisy", "other_course")) > 0.9
    assert found["other scale"] == found["ridge"]
    assert set(found["blind"].values()) == {0.5}
    short = {"ridge": scorers["ridge"]}
    assert rank_faults(short, waves(6)) == {"ridge": {}}, "no room"
    assert rank_faults(short, np.ones((80, 3))) == {"ridge": {}}, "nothing moves"
