"""The columns of a score table, as ``axonad score`` and ``axonad demo`` write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from axonad.data.series import Series
from axonad.explanation import Explanation


def score_columns(series: Series, found: Explanation, *, first: int = 0) -> dict[str, Any]:
    """Return the columns, one value per step; ``first`` is the number of the first step."""
    columns: dict[str, Any] = {"step": np.arange(first, first + len(series))}
    if series.times is not None:
        # Polars infers the type of a list past leading missing values, not that of an object array.
        is_text = series.times.dtype == object
        columns["time"] = series.times.tolist() if is_text else series.times
    columns |= {"score": found.scores, **found.components, "alarm": found.alarms.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels
    return columns
