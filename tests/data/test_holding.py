"""Missing values held for a limited number of rows, in files as in streams."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.data.holding import Holding, SeriesFiller, hold_missing
from axonad.data.series import Series
from axonad.errors import ConfigError, StaleError

NAN = np.nan


def row_by_row(values, limit):
    """The rule written plainly: filled rows, and those refused."""
    holding, filled, refused = Holding(values.shape[1]), values.copy(), []
    for i, row in enumerate(values):
        try:
            filled[i], _ = holding.fill(row, limit=limit, number=i)
        except StaleError:
            filled[i] = row  # no window includes it
            refused.append(i)
    return filled, refused


@pytest.mark.parametrize("parts", [1, 4, 60])
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_series_is_filled_as_row_by_row(limit, parts):
    rng = np.random.default_rng(limit)
    values = rng.normal(size=(60, 2))
    values[rng.random((60, 2)) < 0.3] = NAN
    values[7, 0] = np.inf
    series = Series(values=values, channels=("a", "b"))
    filler = SeriesFiller(limit)
    pieces = [filler.fill(part) for part in cut(series, parts)]
    expected, refused = row_by_row(values, limit)
    np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), expected)
    masks = [np.zeros(len(p), bool) if p.unusable is None else p.unusable for p in pieces]
    assert np.flatnonzero(np.concatenate(masks)).tolist() == refused
    assert filler.count.rows == len(refused) > 0


def cut(series, parts):
    pieces = np.array_split(np.arange(len(series)), parts)
    return [series.rows(piece[0], piece[-1] + 1) for piece in pieces]


def test_a_series_without_missing_values_is_the_same_object():
    series = Series(values=np.zeros((3, 1)), channels=("a",))
    assert hold_missing(series) is series


def test_rows_known_to_be_unusable_stay_so():
    series = Series(
        values=np.array([[1.0], [NAN], [2.0]]), channels=("a",),
        unusable=np.array([True, False, False]),
    )  # fmt: skip
    assert hold_missing(series).unusable.tolist() == [True, False, False]
    with pytest.raises(ConfigError, match="max_hold must be at least 0"):
        hold_missing(series, max_hold=-1)


@pytest.mark.parametrize("parts", [1, 3, 6])
def test_nothing_is_held_across_a_gap_in_time(parts):
    values = np.array([[1.0], [2.0], [NAN], [3.0], [NAN], [4.0]])
    times = np.array([0, 1, 2, 3, 3600, 3601.0])
    series = Series(values=values, channels=("a",), times=times)
    filler = SeriesFiller(interval=1.0)
    pieces = [filler.fill(part) for part in cut(series, parts)]
    filled = np.concatenate([piece.values for piece in pieces])[:, 0]
    np.testing.assert_array_equal(filled, [1, 2, 2, 3, NAN, 4])
    assert (filler.count.values, filler.count.rows) == (1, 1)
