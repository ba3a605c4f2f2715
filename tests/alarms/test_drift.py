"""The verdict of drift: the same at once, in parts, row by row and after a restart."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.event import Change
from axonad.errors import ModelFileError

NAMES = ("speed", "rpm", "ambient", "constant")


def rows(count: int, seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(count, 4)) * [10, 1, 1, 0] + [50, 0, 0, 7]
    return found


NORMAL = rows(3_000, 1)
SCORES = np.random.default_rng(2).normal(size=3_000)
REFERENCE = DriftReference.learn([(NORMAL, SCORES)], history=1, context=(2,))


def drifting(start: int = 1_000, stop: int = 2_000, size: float = 20.0) -> np.ndarray:
    values = rows(3_000, 11)
    values[start:stop, 0] += size
    values[::37, 1] = np.nan
    return values


def judge(values: np.ndarray, scores: np.ndarray | None = None, **options: Any) -> list[Change]:
    watch = DriftWatch(REFERENCE, names=NAMES)
    scores = np.full(len(values), np.nan) if scores is None else scores
    return watch.push_many(values, scores, **options) + watch.finish()


def test_a_drift_is_told_with_its_beginning_its_channels_and_its_end() -> None:
    fired, resolved, final = judge(drifting(), times=[f"t{i}" for i in range(3_000)])
    assert [fired.what, resolved.what, final.what] == ["fired", "resolved", "final"]
    event = fired.event
    assert event.kind == "drift"
    assert event.start == 1_000
    assert event.begins == "t1000"
    assert 1_100 < event.fired < 1_500
    assert event.channels == ("speed",)
    assert event.reason.startswith("1 of 2 channels shifted: speed higher by ")
    size = float(event.reason.split("by ")[1].split(" ")[0])
    assert size == pytest.approx(20, abs=3)
    assert final.event.status == "resolved"
    assert 2_000 < final.event.end < 2_900
    assert final.event.number == 1


def test_normal_data_context_and_constant_channels_give_none() -> None:
    values = rows(6_000, 8)
    values[:, 2] += 40
    values[:, 3] += 40
    assert judge(values, np.random.default_rng(9).normal(size=6_000)) == []


def test_higher_scores_alone_are_a_drift_and_lower_ones_are_none() -> None:
    scores = np.random.default_rng(4).normal(size=3_000)
    found = judge(rows(3_000, 8), scores + 3)
    assert found[-1].event.reason == "scores are higher, none of 2 channels shifted by itself"
    assert found[-1].event.status == "firing"
    assert judge(rows(3_000, 8), scores - 3) == []


def test_a_spread_that_changes_is_a_drift() -> None:
    values = rows(3_000, 8)
    values[:, 1] *= 3
    assert "rpm varies" in judge(values)[-1].event.reason


@settings(max_examples=12, deadline=None)
@given(
    parts=st.lists(st.integers(15, 900), min_size=1, max_size=9),
    cuts=st.lists(st.integers(0, 2_999), max_size=4),
    stop=st.sampled_from([2_000, 3_000]),
)
def test_parts_and_restarts_give_what_the_whole_gives(
    parts: list[int], cuts: list[int], stop: int
) -> None:
    values, times = drifting(stop=stop), list(range(3_000))
    scores = np.random.default_rng(6).normal(size=3_000)
    whole = judge(values, scores, times=times, cuts=cuts)
    watch, at, found, turn = DriftWatch(REFERENCE, names=NAMES), 0, list[Change](), 0
    while at < len(values):
        end = min(at + parts[turn % len(parts)], len(values))
        here = [cut - at for cut in cuts if at <= cut < end]
        found += watch.push_many(values[at:end], scores[at:end], times=times[at:end], cuts=here)
        again = DriftWatch(REFERENCE, names=NAMES)
        again.restore(json.loads(json.dumps(watch.state())))
        watch, at, turn = again, end, turn + 1
    assert found + watch.finish() == whole
    assert any(change.what == "fired" for change in whole)


def test_row_by_row_gives_what_the_whole_gives() -> None:
    values, watch = drifting(), DriftWatch(REFERENCE, names=NAMES)
    found = [change for row in values for change in watch.push(row, math.nan)]
    assert found + watch.finish() == judge(values)
    assert len(found) == 3


def test_no_block_spans_a_cut() -> None:
    """With a cut within every block there is nothing to judge."""
    assert judge(drifting(), cuts=range(0, 3_000, 40)) == []


def test_drift_is_known_to_hold_from_when_it_fired_to_its_end() -> None:
    watch = DriftWatch(REFERENCE, names=NAMES)
    watch.push_many(drifting(), np.full(3_000, np.nan))
    fired = judge(drifting())[0].event.fired

    assert not watch.holds(fired - 50, fired)
    assert watch.holds(fired - 50, fired + 1)
    assert watch.holds(1_900, 1_910)
    assert not watch.holds(2_950, 2_960)


def turning(count: int, seed: int) -> np.ndarray:
    """Angle and rate, which go together but for turns, in which the angle walks far away."""
    rng = np.random.default_rng(seed)
    rate = rng.normal(size=count)
    turns = np.repeat(rng.random(count // 20) < 0.1, 20)
    angle = rate + 0.1 * rng.normal(size=count)
    angle += turns * np.repeat(rng.normal(size=count // 20), 20) * 4
    return np.column_stack([angle, rate])


def test_an_offset_between_turns_is_told_with_its_size_and_rare_turns_do_not_hide_it() -> None:
    none = np.full(12_000, np.nan)
    reference = DriftReference.learn([(turning(12_000, 1), none)], history=50)
    values = turning(12_000, 2)

    def judged(values: np.ndarray, reference: DriftReference) -> list[Change]:
        return DriftWatch(reference, names=("angle", "rate")).push_many(values, none)

    assert judged(values, reference) == []
    values[2_000:, 0] += 0.3
    first = judged(values, reference)[0].event
    assert first.channels[0] in ("angle", "rate")
    assert 2_000 < first.fired < 5_000
    document = reference.to_json()
    del document["bounds"]  # as in models saved before rows were cut off
    before = DriftReference.from_json(document, channels=2)
    late = judged(values, before)
    assert not late or late[0].event.fired > first.fired


def test_a_relation_that_never_leaves_what_does_not_count_is_judged() -> None:
    rng = np.random.default_rng(3)
    rate = rng.normal(size=(6_000, 1))
    exact = np.hstack([rate, 2 * rate])
    none = np.full(6_000, np.nan)
    reference = DriftReference.learn([(exact, none)], history=50)
    assert [one.column for one in reference.statistics if one.what == "relation"] == [0, 1]
    moved = exact + np.array([0.0, 0.5])
    (change, *_) = DriftWatch(reference).push_many(moved, none)
    assert "than the others suggest" in change.event.reason


def test_too_little_normal_data_is_said() -> None:
    short = DriftReference.learn([(NORMAL[:400], SCORES[:400])], history=1)
    assert short.statistics == ()
    assert "too short to judge drift" in short.notes()[0]
    slow = np.column_stack([np.arange(3_000.0), NORMAL[:, 1]])
    reference = DriftReference.learn([(slow, SCORES)], history=1)
    assert "not judged is the level of odometer" in reference.notes(("odometer", "rpm"))[1]


def test_a_channel_that_differs_between_recordings_is_not_judged() -> None:
    parts = [
        (rows(1_000, i) + np.array([0, 5 * i, 0, 0]), np.full(1_000, np.nan)) for i in range(4)
    ]
    judged = {(one.column, one.what) for one in DriftReference.learn(parts, history=1).statistics}
    assert (0, "level") in judged
    assert (1, "level") not in judged


def test_a_saved_reference_is_the_same() -> None:
    again = DriftReference.from_json(json.loads(json.dumps(REFERENCE.to_json())), channels=4)
    assert again.key == REFERENCE.key
    assert len(json.dumps(REFERENCE.to_json())) < 20_000


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 2.0), ("base", 0), ("center", [0.0]), ("scale", [-1.0] * 4), ("judgeable", [9]),
     ("bounds", [0.0] * 4), ("knots", [math.nan]),
     ("statistics", [{"column": 9, "what": "level", "size": 1,
     "normal": [1.0]}]), ("statistics", [{"column": 0, "what": "level", "size": 1,
     "normal": [2.0, 1.0]}]), ("statistics", [{"column": 0, "what": "mode", "size": 1,
     "normal": [1.0]}])],
)  # fmt: skip
def test_a_reference_that_makes_no_sense_is_refused(name: str, value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        DriftReference.from_json(REFERENCE.to_json() | {name: value}, channels=4)


@pytest.mark.parametrize(
    ("name", "value"),
    [("row", -1), ("count", 0.5), ("block", {"rows": 99, "first": 0, "begins": None,
     "sums": [[0.0] * 5] * 3}), ("longer", []), ("evidence", []), ("held", [[5, 2]]), ("held", []),
     ("open", None), ("open", {"number": 1, "start": 9, "fired": 5, "begins": None,
     "shifts": [[0, 0, 1.0]]}), ("open", {"number": 1, "start": 0, "fired": 5, "begins": None,
     "shifts": [[99, 0, 1.0]]})],
)  # fmt: skip
def test_a_damaged_state_is_refused(name: str, value: object) -> None:
    watch = DriftWatch(REFERENCE, names=NAMES)
    watch.push_many(drifting()[:1_500], np.full(1_500, np.nan))
    state = json.loads(json.dumps(watch.state()))
    assert state["open"] is not None
    with pytest.raises((ValueError, TypeError, KeyError)):
        DriftWatch(REFERENCE, names=NAMES).restore(state | {name: value})


def test_the_state_of_another_reference_is_refused() -> None:
    other = DriftReference.learn([(NORMAL + 1, SCORES)], history=1)
    with pytest.raises(ModelFileError, match="another reference of drift"):
        DriftWatch(REFERENCE).restore(DriftWatch(other).state())
