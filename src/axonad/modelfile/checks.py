"""Whether what a model file holds makes sense: numbers, and arrays of the expected shape.

A checksum reveals damage. A file that was made up has one that is right, and files of format 1 have
none, so these checks come on top. They raise KeyError, TypeError or ValueError, which the reader
reports with the name of the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**62  # largest count

Length = int | str | None
"""Length of an axis: a number, a name that stands for the same number everywhere, or any."""
Shapes = Mapping[str, tuple[Length, ...]]
"""Shapes of arrays by name."""


def check_number(name: str, value: object, *, above: float | None = None) -> float:
    """Return a finite number above a bound."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r:.40}; expected a finite number")
    if above is not None and value <= above:
        raise ValueError(f"{name} is {value!r:.40}; expected a number above {above}")
    return float(value)


def check_entries(name: str, value: object) -> Mapping[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        raise TypeError(f"{name} is {value!r:.40}; expected an object with entries")
    return value


def check_counts(name: str, value: object) -> list[int]:
    """Return a list of integers of at least 0."""
    if not isinstance(value, list) or any(
        isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST
        for count in value
    ):
        raise ValueError(f"{name} is {value!r:.60}; expected a list of integers of at least 0")
    return value


def check_rows(name: str, value: object, *, columns: int) -> NDArray[np.float64]:
    """Return a list of rows of finite numbers as an array."""
    rows = np.array(value)
    if rows.size == 0:
        rows = np.empty((len(rows), columns if len(rows) == 0 else 0))
    fits = rows.ndim == 2 and rows.shape[1] == columns and rows.dtype.kind in "fiu"
    if not fits or not np.isfinite(rows).all():
        raise ValueError(f"its {name} does not hold {columns} finite channels")
    return rows.astype(np.float64)


def check_indices(name: str, array: NDArray[Any], *, low: int, count: int) -> None:
    """Raise ValueError unless an array holds integers from ``low`` to ``count - 1``."""
    if array.dtype.kind not in "iu" or (array < low).any() or (array >= count).any():
        raise ValueError(f"array {name!r} must hold integers from {low} to {count - 1}")


def take(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    *shape: Length,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    whole: bool = False,
    lengths: dict[str, int] | None = None,
) -> NDArray[Any]:
    """Return an array of finite numbers, of the given shape and within the bounds.

    With ``whole`` they are integers. ``lengths`` holds the lengths that names in ``shape`` stand
    for; names it lacks are added with the length found.
    """
    array = arrays[name]
    if array.dtype.kind not in ("iu" if whole else "fiu"):
        raise ValueError(f"array {name!r} holds values of type {array.dtype}")
    known = {} if lengths is None else lengths
    fits = array.ndim == len(shape)
    for found, wanted in zip(array.shape, shape, strict=False):
        expected = known.setdefault(wanted, found) if isinstance(wanted, str) else wanted
        fits = fits and expected in (None, found)
    if not fits:
        words = ", ".join(str(known.get(n, n) if isinstance(n, str) else n or "any") for n in shape)
        raise ValueError(f"array {name!r} has shape {array.shape}; expected ({words})")
    if not np.isfinite(array).all():
        raise ValueError(f"array {name!r} has values that are not finite")
    for is_outside, bound, words in (
        (np.less, low, "at least"), (np.greater, high, "at most"), (np.less_equal, above, "above"),
    ):  # fmt: skip
        if bound is not None and is_outside(array, bound).any():
            raise ValueError(f"array {name!r} must be {words} {bound} everywhere")
    return array
