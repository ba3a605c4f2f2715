"""Which column of a table is the time of its rows: one rule for files, frames and streams.

Datetimes are time: the index of a frame, or the first column of them. So is a column that is named
like a time (``TIME_NAMES``, in any case). A column with one of the ``SHORT_NAMES``, which may as
well be a channel such as a temperature, is time if it only increases. The caller may say otherwise,
and a channel that a model was fitted with stays one: for a table that a model scores, the names
alone decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIME_NAMES = ("time", "timestamp", "t_s", "time_s", "datetime", "date_time", "date")
SHORT_NAMES = ("t", "ts")


def find_time_column(
    names: Iterable[str], *, known: Collection[str] | None = None, dated: Collection[str] = ()
) -> str | None:
    """Return the column that is time by its name, or else the first of the ``dated`` ones.

    ``known`` are the channels of the model that scores the table, None without a model. ``dated``
    are the columns of datetimes.

    >>> find_time_column(["speed", "Time"]), find_time_column(["time"], known=["time"])
    ('Time', None)
    """
    wanted = TIME_NAMES if known is None else (*TIME_NAMES, *SHORT_NAMES)
    others = [name for name in names if name not in (known or ())]
    named = (name for name in others if name.lower() in wanted)
    return next(named, None) or next((name for name in others if name in dated), None)


def is_time_name(name: str) -> bool:
    """Return whether a column that is no channel of the model is time by its name."""
    return name.lower() in (*TIME_NAMES, *SHORT_NAMES)


def may_be_time(name: str) -> bool:
    """Return whether a column with this name is time if it only increases."""
    return name.lower() in SHORT_NAMES


def only_increases(numbers: NDArray[Any]) -> bool:
    """Return whether numbers never fall and do rise; missing ones are passed over.

    >>> only_increases(np.array([0.1, 0.2, np.nan, 0.2])), only_increases(np.array([3.0, 2.0]))
    (True, False)
    """
    steps = np.diff(numbers[np.isfinite(numbers)])
    return bool((steps >= 0).all() and (steps > 0).any())


def taken_as_time(column: str, otherwise: str) -> str:
    """Return the sentence that says that a column of numbers is taken as time."""
    return f"column {column!r} is taken as the time of the rows, not as a channel; {otherwise}"
