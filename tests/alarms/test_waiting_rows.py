"""Rows that wait: live watches beside twins that judge every row at once, by ``push_many``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms import waiting_rows
from axonad.alarms.bad_data import DataRules
from axonad.alarms.data_watch import DataWatch
from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.event import Change

NAN, INF = np.nan, np.inf
Watch = DataWatch | DriftWatch

# Four channels: one that moves, one that stays for up to 6 rows, one that never moves, context.
GROUND = np.random.default_rng(0).normal(size=(400, 4))
GROUND[:, 1] = np.repeat(GROUND[::5, 1], 5)
GROUND[:, 2] = 3.0
RULES = DataRules.learn([GROUND], context=(3,))
REFERENCE = DriftReference.learn([(np.tile(GROUND, (4, 1)), np.tile(GROUND[:, 0], 4))], history=1)

cell = st.sampled_from([None, None, None, 0.0, -0.0, 2.9, 3.0, 50.0, -50.0, NAN, INF, -INF])
piece = st.tuples(st.integers(1, 25), st.lists(cell, min_size=4, max_size=4))
action = st.sampled_from(["go on"] * 6 + ["cut", "restart", "look", "many", "skip"])
script = st.lists(st.tuples(piece, action), min_size=1, max_size=25)


def rows_of(length: int, cells: list[float | None], start: int) -> np.ndarray:
    """Return ordinary rows in which some channels have one value."""
    found = np.take(GROUND, range(start, start + length), axis=0, mode="wrap")
    for column, value in enumerate(cells):
        if value is not None:
            found[:, column] = value
    return found


def plain(changes: list[Change]) -> list[str]:
    return [repr(change) for change in changes]  # NaN is equal to itself here


def follow(
    make: Callable[[], Watch],
    push: Callable[[Any, np.ndarray, Any], list[Change]],
    push_many: Callable[[Any, np.ndarray, list[Any]], list[Change]],
    steps: list[Any],
) -> None:
    """Give both watches the same rows; compare all changes, and the state now and then."""
    live, twin, at = make(), make(), 0
    for (length, cells), what in steps:
        rows, times = rows_of(length, cells, at), [f"t{at + i}" for i in range(length)]
        if what == "cut":
            assert plain(live.cut() or []) == plain(twin.cut() or [])
            assert json.dumps(live.state()) == json.dumps(twin.state())
        elif what == "restart":
            text = json.dumps(live.state(), allow_nan=False)
            assert text == json.dumps(twin.state(), allow_nan=False)
            live = make()
            live.restore(json.loads(text))
        elif what == "look" and isinstance(live, DataWatch):
            assert repr(live.events) == repr(twin.events)
        elif what == "look":
            assert repr(live.event) == repr(twin.event)
        elif what == "skip":  # as EventFinder.skip does
            assert plain(live.cut() or []) == plain(twin.cut() or [])
            live.row = twin.row = twin.row + 3
        judged = [push_many(twin, rows[i : i + 1], times[i : i + 1]) for i in range(length)]
        if what == "many":
            expected = [change for changes in judged for change in changes]
            assert plain(push_many(live, rows, times)) == plain(expected)
        else:
            for i in range(length):
                assert plain(push(live, rows[i].copy(), times[i])) == plain(judged[i])
                assert live.row == twin.row - length + i + 1
        at += length
    assert json.dumps(live.state()) == json.dumps(twin.state())
    assert plain(live.finish()) == plain(twin.finish())


@settings(max_examples=150, deadline=None)
@given(script)
def test_bad_data_is_told_at_the_same_row(steps: list[Any]) -> None:
    follow(
        lambda: DataWatch(RULES, vehicle="car"),
        lambda watch, row, time: watch.push(row, time=time),
        lambda watch, rows, times: watch.push_many(rows, times=times),
        steps,
    )


@settings(max_examples=50, deadline=None)
@given(script)
def test_drift_is_told_at_the_same_row(steps: list[Any]) -> None:
    follow(
        lambda: DriftWatch(REFERENCE),
        lambda watch, row, time: watch.push(row, row[0], time=time),
        lambda watch, rows, times: watch.push_many(rows, rows[:, 0], times=times),
        steps,
    )


def test_a_long_drift_in_single_rows() -> None:
    """Blocks are complete, and drifts begin and end, at the same rows."""
    steps = [((25, [None if i < 40 else 2.9, None, None, None]), "go on") for i in range(80)]
    steps += [((25, [None] * 4), "look")] * 60
    live = DriftWatch(REFERENCE)
    follow(
        lambda: DriftWatch(REFERENCE),
        lambda watch, row, time: watch.push(row, row[0], time=time),
        lambda watch, rows, times: watch.push_many(rows, rows[:, 0], times=times),
        steps,
    )
    found = list[Change]()
    for i, ((length, cells), _) in enumerate(steps):
        for row in rows_of(length, cells, 25 * i):
            found += live.push(row, row[0])
    assert [change.what for change in found][:2] == ["fired", "resolved"]


def test_ordinary_rows_wait_and_a_bad_value_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = list[int]()
    judge = DataWatch._add

    def counted(watch: DataWatch, values: Any, times: Any) -> list[Change]:
        judged.append(len(values))
        return judge(watch, values, times)

    monkeypatch.setattr(DataWatch, "_add", counted)
    watch = DataWatch(RULES)
    for row in GROUND[:300]:
        assert watch.push(row) == []
    assert max(judged) == waiting_rows.MOST
    assert len(judged) < 10
    dead = GROUND[300:].copy()
    dead[:, 0] = NAN
    before = len(judged)
    found = [watch.push(row) for row in dead]
    assert [i for i, changes in enumerate(found) if changes] == [10], "as the rules say"
    assert len(judged) - before < 8, "an event that goes on is no reason to judge every row"
