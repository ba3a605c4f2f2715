from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from axonad import AxonAD, StreamScorer
from axonad.errors import ChannelError, InputError
from tests.conftest import waves
from tests.stream.conftest import NAMES, assert_close


def test_rows_by_name_frame_or_position(fitted):
    X = waves(20, seed=1)
    expected = StreamScorer(fitted).push_many(X)[-1].score
    by_name = StreamScorer(fitted)
    last = [by_name.push(dict(zip(reversed(NAMES), row[::-1], strict=True))) for row in X][-1]
    assert_close(last.score, expected)
    for rows in (
        pd.DataFrame(X, columns=NAMES)[NAMES[::-1]],
        pl.DataFrame(X, schema=NAMES),
        X.tolist(),
        X.astype(np.float32),
    ):
        assert_close(StreamScorer(fitted).push_many(rows)[-1].score, expected)


def test_rows_of_a_pandas_frame_are_matched_by_name(fitted):
    X = pd.DataFrame(waves(20, seed=1), columns=NAMES)
    expected = StreamScorer(fitted).push_many(X)[-1].score
    scorer = StreamScorer(fitted)
    last = [scorer.push(row) for _, row in X[NAMES[::-1]].iterrows()][-1]
    assert_close(last.score, expected)


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


def test_names_need_a_detector_with_names(small):
    scorer = StreamScorer(AxonAD(**small).fit(waves(100)))
    with pytest.raises(ChannelError, match="fitted without channel names"):
        scorer.push({"a": 1.0})
