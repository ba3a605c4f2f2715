"""Whatever a user hands over → a float matrix (time, channels) and channel names.

Arrays, nested lists, pandas and polars frames and :class:`~axonad.data.series.Series` are
accepted. Frames are recognised by what they can do; neither pandas nor polars is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ChannelError, InputError, suggest

Matrix = NDArray[np.floating[Any]]
Names = tuple[str, ...] | None

LARGEST = 1e150  # whose square is still a number, sums of many squares too


def to_matrix(X: Any) -> tuple[Matrix, Names]:
    """Return ``X`` as a float array of shape (time, channels), and its channel names if it has any.

    float32 and float64 pass through without a copy; other numeric types become float64.
    """
    if X is None or isinstance(X, (str, bytes, PathLike)):
        hint = "" if X is None else "; read a file with axonad.read(path)"
        raise InputError(f"X must be an array or a frame, got {type(X).__name__}{hint}")
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise InputError("X is a lazy frame; call .collect() on it first")
    if hasattr(X, "channels") and hasattr(X, "values") and not hasattr(X, "columns"):
        names: Names = tuple(X.channels)
        array = np.asarray(X.values)
    elif hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = _column_names(X)
        array = _frame_values(X, names)
    else:
        names, array = None, _as_array(X)
    if array.ndim != 2:
        hint = "; for one channel pass X.reshape(-1, 1)" if array.ndim == 1 else ""
        raise InputError(
            f"X must have two dimensions (time, channels), got shape {array.shape}{hint}"
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InputError(f"X is empty: shape {array.shape}; expected (time, channels)")
    if names is not None:
        check_unique(names)
    return _to_float(array, names), names


def check_unique(names: Sequence[str]) -> None:
    """Refuse duplicate channel names."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ChannelError(f"channel name {name!r} appears more than once; rename one of them")
        seen.add(name)


def check_finite(X: Matrix, names: Names, *, purpose: str) -> None:
    """Refuse NaN and infinite values, naming the first one."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(X, axis=None, dtype=np.float64)
    if np.isfinite(total):
        return  # one pass without a mask; overflow of finite values only costs the slow way
    bad = ~np.isfinite(X)
    count = int(bad.sum())
    if count == 0:
        return
    row, channel = (int(i) for i in np.argwhere(bad)[0])
    where = "" if purpose == "X" else f" in {purpose}"
    raise InputError(
        f"X has {count} NaN or infinite value{'s' if count > 1 else ''}{where}, first at row "
        f"{row}, channel {channel_label(channel, names)}; fill or drop those rows first"
    )


def check_sound(X: Matrix, names: Names) -> None:
    """Refuse data nothing can be learned from: gaps, and numbers whose squares are none."""
    check_finite(X, names, purpose="training data")
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    channel = int(np.argmax(largest))
    size = float(largest[channel])
    if size > LARGEST or 0 < size < 1 / LARGEST:
        raise wrong_size(channel, size, names)


def wrong_size(channel: int, size: float, names: Names) -> InputError:
    """Return the refusal of a channel whose largest value has no square."""
    return InputError(
        f"channel {channel_label(channel, names)} holds values up to {size:.3g}, "
        f"too {'large' if size > 1 else 'small'} to take a standard deviation of; rescale it first"
    )


def channel_label(index: int, names: Names) -> str:
    """Return a channel's quoted name, or its number when it has none."""
    return repr(names[index]) if names is not None else str(index)


def match_channels(X: Matrix, names: Names, *, expected: Names, count: int) -> Matrix:
    """Return ``X`` with its channels in the order of the fitted ones, or refuse by name.

    Without names on either side only the number of channels can be checked.
    """
    if names is not None and expected is not None:
        for name in names:
            if name not in expected:
                hint = suggest(name, expected) or "; drop it or fit with it"
                raise ChannelError(f"channel {name!r} not in model{hint}")
        missing = [name for name in expected if name not in names]
        if missing:
            listed = ", ".join(repr(name) for name in missing[:5])
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            plural = "s" if len(missing) > 1 else ""
            raise ChannelError(f"X lacks channel{plural} {listed}{more} the model was fitted on")
        if names != expected:
            return X[:, [names.index(name) for name in expected]]
        return X
    if X.shape[1] != count:
        raise ChannelError(f"X must have {count} channels as in training, got {X.shape[1]}")
    return X


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    try:
        return np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"X cannot be read as an array: {error}") from None


def _column_names(X: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in X.columns)


def _frame_values(X: Any, names: Names) -> NDArray[Any]:
    """Return a pandas or polars frame as one numeric array, refusing other columns by name."""
    check_unique(names or ())
    for name, kind in zip(names or (), _kinds(X), strict=True):
        if not kind:
            raise InputError(
                f"column {name!r} is not numeric; drop it, or convert it to numbers first"
            )
    if hasattr(X, "iloc"):  # pandas: nullable types need to be told what missing becomes
        kinds = {str(kind) for kind in X.dtypes}
        dtype = np.float32 if kinds == {"float32"} else np.float64
        return np.asarray(X.to_numpy(dtype=dtype, na_value=np.nan))
    return np.asarray(X.to_numpy())


def _kinds(X: Any) -> list[bool]:
    """Say for each column of a frame whether it holds numbers (or booleans)."""
    if hasattr(X, "iloc"):
        return [getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes]
    return [kind.is_numeric() or str(kind) == "Boolean" for kind in X.dtypes]


def _to_float(array: NDArray[Any], names: Names) -> Matrix:
    if array.dtype.kind == "f":
        if array.dtype.itemsize in (4, 8):
            return array
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            pass
    where = next((f" (column {n!r})" for n in names or ()), "")
    raise InputError(f"X must be numeric, got values of type {array.dtype}{where}")
