from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axonad import AxonAD, StreamScorer
from axonad.errors import (
    ChannelError,
    ConfigError,
    FileError,
    InputError,
    ModelFileError,
    NotFittedError,
    StaleError,
)
from axonad.stream import scorer as scorer_module
from axonad.stream.buffer import RowBuffer
from tests.conftest import SMALL, waves

NAMES = ["speed", "yaw_rate", "torque"]


def batch_end(detector, X):
    """The batch scores at each window's end, and their components."""
    return detector._score_ends(X)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_live_scores_equal_batch_end_scores(fitted):
    X = waves(80, seed=1)
    X[40:45, 1] += 4
    scores, components = batch_end(fitted, X)
    results = [StreamScorer.push(s, row) for s in [StreamScorer(fitted)] for row in X]
    assert results[:15] == [None] * 15
    close([r.score for r in results[15:]], scores)
    for name, values in components.items():
        close([r.components[name] for r in results[15:]], values)
    assert [r.step for r in results[15:]] == list(range(15, 80))
    assert [r.alarm for r in results[15:]] == [r.score > fitted.threshold_ for r in results[15:]]
    assert any(r.alarm for r in results[15:])


def test_public_end_alignment_is_what_streams(small):
    detector = AxonAD(**small, align="end").fit(waves(200))
    X = waves(60, seed=1)
    live = [r.score for r in StreamScorer(detector).push_many(X) if r is not None]
    close(live, detector.decision_function(X)[15:])
    detector.set_params(align="center")
    again = [r.score for r in StreamScorer(detector).push_many(X) if r is not None]
    close(again, live)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, 40), max_size=6))
def test_any_mix_of_push_and_push_many(fitted, sizes):
    X = waves(sum(sizes) + 3, seed=2)
    one = [scorer.push(row) for scorer in [StreamScorer(fitted)] for row in X]
    scorer, mixed, start = StreamScorer(fitted), [], 0
    for size in sizes:
        mixed += scorer.push_many(X[start : start + size])
        start += size
    mixed += [scorer.push(row) for row in X[start:]]
    assert [r is None for r in mixed] == [r is None for r in one]
    close([r.score for r in mixed if r], [r.score for r in one if r])
    assert [r.step for r in mixed if r] == [r.step for r in one if r]


def test_push_many_works_in_blocks(fitted, monkeypatch):
    X = waves(100, seed=1)
    whole = StreamScorer(fitted).push_many(X)
    monkeypatch.setattr(scorer_module, "BLOCK", 7)
    close([r.score for r in StreamScorer(fitted).push_many(X)[15:]], [r.score for r in whole[15:]])


def test_rows_by_name_frame_or_position(fitted):
    X = waves(20, seed=1)
    expected = StreamScorer(fitted).push_many(X)[-1].score
    by_name = StreamScorer(fitted)
    last = [by_name.push(dict(zip(reversed(NAMES), row[::-1], strict=True))) for row in X][-1]
    close(last.score, expected)
    for rows in (
        pd.DataFrame(X, columns=NAMES)[NAMES[::-1]],
        pl.DataFrame(X, schema=NAMES),
        X.tolist(),
        X.astype(np.float32),
    ):
        close(StreamScorer(fitted).push_many(rows)[-1].score, expected)


def test_rows_of_a_pandas_frame_are_matched_by_name(fitted):
    X = pd.DataFrame(waves(20, seed=1), columns=NAMES)
    expected = StreamScorer(fitted).push_many(X)[-1].score
    scorer = StreamScorer(fitted)
    last = [scorer.push(row) for _, row in X[NAMES[::-1]].iterrows()][-1]
    close(last.score, expected)


def test_nothing_pushed_is_nothing_scored(fitted):
    for nothing in ([], (), np.empty((0, 3))):
        assert StreamScorer(fitted).push_many(nothing) == []


def test_memory_stays_bounded(fitted):
    scorer = StreamScorer(fitted)
    scorer.push_many(waves(3000))
    size = scorer._lane.window._rows.nbytes
    scorer.push_many(waves(3000))
    assert scorer._lane.window._rows.nbytes == size
    assert len(scorer._lane.window) == 16


# -- missing values ----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf, None, pd.NA])
def test_a_missing_value_is_held_and_counted(fitted, missing):
    X = waves(30, seed=1)
    filled = X.copy()
    filled[20, 1] = X[19, 1]
    filled[21, 1] = X[19, 1]
    expected, _ = batch_end(fitted, filled)
    scorer = StreamScorer(fitted)
    live = []
    for i, row in enumerate(X.tolist()):
        if i in (20, 21):
            row[1] = missing
        live.append(scorer.push(row))
    close([r.score for r in live[15:]], expected)
    assert live[20].held == ("yaw_rate",)
    assert live[22].held == ()
    assert (scorer.held, scorer.refused, scorer.rows, scorer.scored) == (2, 0, 30, 15)


def test_a_missing_name_is_a_missing_value(fitted):
    scorer = StreamScorer(fitted)
    for row in waves(20):
        result = scorer.push(dict(zip(NAMES, row, strict=True)))
    result = scorer.push({"speed": 0.1, "torque": 0.2})
    assert result.held == ("yaw_rate",)


def test_silence_beyond_the_limit_is_refused_and_the_window_starts_anew(fitted):
    scorer = StreamScorer(fitted, hold_limit=3)
    X = waves(60, seed=1)
    scorer.push_many(X[:20])
    bad = X[20].copy()
    bad[2] = np.nan
    for _ in range(3):
        assert scorer.push(bad) is not None
    message = "channel 'torque' has been silent for more than hold_limit=3 rows at row 23"
    with pytest.raises(StaleError, match=message):
        scorer.push(bad)
    assert (scorer.held, scorer.refused) == (3, 1)
    with pytest.raises(StaleError, match="'torque' has no value at row 24 and no earlier one"):
        scorer.push(bad)
    fresh = [scorer.push(row) for row in X[30:50]]
    assert fresh[:15] == [None] * 15, "no window spans the gap"
    close([r.score for r in fresh[15:]], batch_end(fitted, X[30:50])[0])
    assert fresh[15].step == 25 + 15


def test_a_value_in_between_resets_the_count(fitted):
    scorer = StreamScorer(fitted, hold_limit=1)
    X = waves(40)
    for i, row in enumerate(X):
        bad = row.copy()
        if i % 2:
            bad[0] = np.nan
        scorer.push(bad)
    assert (scorer.held, scorer.refused) == (20, 0)


def test_push_many_with_gaps_equals_push(fitted):
    X = waves(80, seed=1)
    X[10, 0] = X[30:33, 1] = X[33, 2] = np.nan
    one = [s.push(row) for s in [StreamScorer(fitted, hold_limit=3)] for row in X]
    many = StreamScorer(fitted, hold_limit=3).push_many(X)
    close([r.score for r in many if r], [r.score for r in one if r])
    assert [r.held for r in many if r] == [r.held for r in one if r]


def test_push_many_says_how_far_it_came(fitted):
    X = waves(60, seed=1)
    X[40:, 1] = np.nan
    scorer = StreamScorer(fitted, hold_limit=2)
    with pytest.raises(StaleError) as caught:
        scorer.push_many(X)
    assert caught.value.row == len(caught.value.results) == 42
    assert caught.value.results[-1].held == ("yaw_rate",)
    assert scorer.refused == 1
    assert scorer.rows == 43
    assert [r.step for r in caught.value.results[15:]] == list(range(15, 42))


def test_hold_limit_zero_refuses_at_once(fitted):
    scorer = StreamScorer(fitted, hold_limit=0)
    scorer.push([0.0, 0.1, 0.2])
    with pytest.raises(StaleError, match="silent for more than hold_limit=0"):
        scorer.push([0.0, np.nan, 0.2])


# -- bad rows and detectors --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ([1.0, 2.0], ChannelError, "a row must have 3 values, got 2"),
        ([1.0, "x", 2.0], InputError, "a row must hold numbers"),
        ({"speed": 1, "yaw_rat": 2}, ChannelError, "'yaw_rat' not in model; did you mean"),
        ([[1.0, 2.0, 3.0]], ChannelError, "a row must have 3 values"),
        (5.0, InputError, "a row must hold numbers"),
        ("123", InputError, "a row must hold numbers"),
        (["1", "2", "3"], InputError, "a row must hold numbers"),
        ([10**400, 0, 0], InputError, "a row must hold numbers"),
        ({1: 2.0}, ChannelError, "channel 1 not in model"),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(fitted, row, error, message):
    scorer = StreamScorer(fitted)
    scorer.push_many(waves(20))
    with pytest.raises(error, match=message):
        scorer.push(row)
    assert scorer.rows == 20
    assert scorer.push([0.0, 0.0, 0.0]).step == 20


def test_detectors_that_cannot_stream(small):
    with pytest.raises(NotFittedError):
        StreamScorer(AxonAD(**small))
    paper = AxonAD.paper(**small).fit(waves(100))
    with pytest.raises(
        ConfigError, match="cannot run live as it was fitted: its scaling needs the whole series"
    ):
        StreamScorer(paper)
    with pytest.raises(ConfigError, match="hold_limit must be at least 0, got -1"):
        StreamScorer(AxonAD(**small).fit(waves(100)), hold_limit=-1)


def test_names_need_a_detector_with_names(small):
    scorer = StreamScorer(AxonAD(**small).fit(waves(100)))
    with pytest.raises(ChannelError, match="fitted without channel names"):
        scorer.push({"a": 1.0})


# -- state -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [0, 5, 15, 16, 40])
def test_a_restarted_process_continues_with_the_same_scores(fitted, tmp_path, stop):
    X = waves(60, seed=1)
    X[stop - 1 : stop, 0] = np.nan if stop > 1 else X[stop - 1 : stop, 0]
    whole = StreamScorer(fitted, hold_limit=4).push_many(X)
    first = StreamScorer(fitted, hold_limit=4)
    first.push_many(X[:stop])
    first.save(tmp_path / "state.json")
    fitted.save(tmp_path / "model")
    import axonad

    second = StreamScorer.restore(tmp_path / "state.json", axonad.load(tmp_path / "model"))
    rest = second.push_many(X[stop:])
    assert [r and r.step for r in rest] == [r and r.step for r in whole[stop:]]
    close([r.score for r in rest if r], [r.score for r in whole[stop:] if r])
    assert (second.rows, second.held, second.hold_limit) == (60, int(stop > 1), 4)


def test_state_files_that_cannot_be_used(fitted, tmp_path):
    path = tmp_path / "state.json"
    StreamScorer(fitted).save(path)
    with pytest.raises(FileError, match="already exists"):
        StreamScorer(fitted).save(path)
    StreamScorer(fitted).save(path, overwrite=True)
    other = AxonAD(**SMALL, seed=1).fit(waves(100))
    with pytest.raises(ModelFileError, match="belongs to another detector"):
        StreamScorer.restore(path, other)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "buffer": [[1.0]]}))
    with pytest.raises(ModelFileError, match="is damaged"):
        StreamScorer.restore(path, fitted)
    path.write_text(json.dumps({**document, "buffer": [[1.0, None, 2.0]]}))
    with pytest.raises(ModelFileError, match="is damaged: its buffer does not hold 3 finite"):
        StreamScorer.restore(path, fitted)
    path.write_text(json.dumps({**document, "silent": [0]}))
    with pytest.raises(ModelFileError, match="is damaged"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(NotFittedError):
        StreamScorer.restore(path, AxonAD(**SMALL))
    path.write_text(path.read_text()[:50])
    with pytest.raises(ModelFileError, match="not valid JSON"):
        StreamScorer.restore(path, fitted)
    with pytest.raises(ModelFileError, match="is missing"):
        StreamScorer.restore(tmp_path / "none.json", fitted)


@given(st.integers(1, 8), st.lists(st.integers(0, 99), max_size=30))
def test_buffer_holds_the_last_rows(size, values):
    buffer = RowBuffer(size, 1)
    for value in values:
        buffer.append(np.array([float(value)]))
    assert buffer.rows()[:, 0].tolist() == [float(v) for v in values[-size:]]
    assert buffer.is_full == (len(values) >= size)
