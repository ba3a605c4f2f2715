"""Arrays in few bytes: values as base64 of 16-bit numbers, positions of 32-bit ones.

A value is kept to 1/65534 of the range of its array, the width of a band to 1/254 of the range of
widths, a position to about 1/16,000,000 of the length of its axis. ``decode.js`` reads them.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Packed = dict[str, Any]
SIZES = {"i16": 2, "i8": 1}  # bytes of a value
POSITION = 4  # bytes


def pack(values: Array, kind: str = "i16") -> Packed:
    """Return values as JSON: an array of one value as that value, others as small integers."""
    known = np.isfinite(values)
    if not known.any():
        return {"n": len(values), "all": None}
    low, high = float(values[known].min()), float(values[known].max())
    if low == high and known.all():
        return {"n": len(values), "all": number(low)}
    missing = -(2 ** (8 * SIZES[kind] - 1))
    levels = -2 * missing - 2
    low, step = number(low), number((high - low) / levels)
    scaled = np.zeros(len(values)) if step == 0 else (values - low) / step
    whole = np.clip(np.round(np.where(known, scaled, 0)), 0, levels).astype(np.int64) + missing + 1
    small = np.where(known, whole, missing).astype(f"<i{SIZES[kind]}")
    return {"low": low, "step": step, kind: _text(small)}


def pack_band(expected: Array, low: Array, high: Array) -> tuple[Packed, Packed]:
    """Return the distances of a band's edges from what it surrounds; often they are constant."""
    return pack(_even(expected - low), "i8"), pack(_even(high - expected), "i8")


def pack_positions(x: Array) -> Packed:
    """Return rising positions as JSON."""
    first = float(x[0]) if len(x) else 0.0
    return {"first": first, "f32": _text((x - first).astype("<f4"))}


def has_even_band(expected: Array, low: Array, high: Array) -> bool:
    """Whether a band is everywhere as wide as anywhere else, which costs no bytes."""
    return all("all" in packed for packed in pack_band(expected, low, high))


def number(value: float) -> float:
    """Return a number with at most nine digits, as short text keeps it."""
    return float(f"{value:.9g}")


def _even(distance: Array) -> Array:
    """Return distances that differ by rounding only as one and the same."""
    known = np.isfinite(distance)
    if not known.any():
        return distance
    middle = float(np.median(distance[known]))
    if np.allclose(distance[known], middle, rtol=1e-6, atol=0):
        return np.full(len(distance), middle)
    return distance


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
