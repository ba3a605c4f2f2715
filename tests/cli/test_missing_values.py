"""The options for missing values."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.cli.missing_values import fill_series, make_filler
from axonad.data.series import Series
from axonad.errors import ConfigError, DataWarning


def test_without_the_option_nothing_is_filled():
    series = Series(values=np.array([[1.0], [np.nan]]), channels=("a",))
    assert make_filler(None, None) is None
    assert fill_series(series, None) is series


def test_what_was_filled_is_said():
    series = Series(values=np.array([[1.0], [np.nan], [np.nan]]), channels=("a",), name="x.csv")
    with pytest.warns(DataWarning, match="x.csv: 1 missing value held, 1 row without usable value"):
        filled = fill_series(series, make_filler("hold", 1))
    assert filled.values[:2, 0].tolist() == [1, 1]
    assert filled.unusable.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("fill", "limit", "message"),
    [("mean", None, "--fill must be one of 'hold'"), (None, 3, "--max-hold needs --fill hold")],
)
def test_nonsense_is_refused(fill, limit, message):
    with pytest.raises(ConfigError, match=message):
        make_filler(fill, limit)
