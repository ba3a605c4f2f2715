"""Convert and check input: arrays, frames and series become a float matrix (time, channels).

Frames are recognised by their methods, so neither pandas nor polars is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ChannelError, InputError, NotNumericError, suggest

Matrix = NDArray[np.floating[Any]]
Names = tuple[str, ...] | None

LARGEST = 1e150  # sums of squares of values up to this size do not overflow


def to_matrix(X: Any) -> tuple[Matrix, Names]:
    """Return ``X`` as a float array (time, channels), and its channel names if it has any.

    Arrays, nested lists, pandas and polars frames and :class:`~axonad.data.series.Series` are
    accepted. float32 and float64 arrays are not copied; other numeric types become float64.
    """
    if X is None or isinstance(X, (str, bytes, PathLike)):
        hint = "" if X is None else "; read a file with axonad.read(path)"
        raise InputError(f"X must be an array or a frame, got {type(X).__name__}{hint}")
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise InputError("X is a lazy frame; call .collect() on it first")
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # scipy's; in scikit-learn's words
        raise InputError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert "
            "to a dense numpy array."
        )
    if hasattr(X, "channels") and hasattr(X, "values") and not hasattr(X, "columns"):
        names: Names = tuple(X.channels)
        array = np.asarray(X.values)
        unusable = getattr(X, "unusable", None)
        if unusable is not None and not np.isfinite(array[unusable]).all():
            array = np.where(unusable[:, None], 0.0, array)  # no window includes these rows
    elif hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = tuple(str(name) for name in X.columns)
        array = _frame_values(X, names)
    else:
        names, array = None, _as_array(X)
    if array.ndim != 2:
        hint = (
            ". Reshape your data: X.reshape(-1, 1) for one channel, X.reshape(1, -1) for one row"
            if array.ndim == 1
            else ""
        )
        raise InputError(
            f"X must have two dimensions (time, channels), got shape {array.shape}{hint}"
        )
    if 0 in array.shape:
        what = "sample(s)" if array.shape[0] == 0 else "feature(s)"
        raise InputError(
            f"X is empty: 0 {what} (shape={array.shape}) while a minimum of 1 is required; "
            "expected (time, channels)"
        )
    check_unique(names or ())
    return _to_float(array, names), names


def check_unique(names: Sequence[str]) -> None:
    """Raise ``ChannelError`` if a channel name appears twice."""
    for name, count in Counter(names).items():
        if count > 1:
            raise ChannelError(f"channel name {name!r} appears more than once; rename one of them")


def check_finite(X: Matrix, names: Names, *, purpose: str) -> None:
    """Raise ``InputError`` with the position of the first NaN or infinite value."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(X, axis=None, dtype=np.float64)
    if np.isfinite(total):  # the usual case, without a mask; finite values may also overflow
        return
    bad = np.argwhere(~np.isfinite(X))
    count = len(bad)
    if count == 0:
        return
    row, channel = bad[0].tolist()
    where = "" if purpose == "X" else f" in {purpose}"
    raise InputError(
        f"X has {count} NaN or infinite value{'s' if count > 1 else ''}{where}, first at row "
        f"{row}, channel {channel_label(channel, names)}; drop those rows or fill them (--fill)"
    )


def check_sound(X: Matrix, names: Names) -> None:
    """Raise ``InputError`` for training data that a detector cannot learn from.

    That is NaN, infinity, values whose squares overflow or underflow, and nothing but constants.
    """
    check_finite(X, names, purpose="training data")
    low, high = X.min(axis=0), X.max(axis=0)
    largest = np.maximum(high, -low)
    channel = int(np.argmax(largest))
    size = float(largest[channel])
    if size > LARGEST or 0 < size < 1 / LARGEST:
        raise wrong_size(channel, size, names)
    if len(X) == 1:
        raise InputError(
            "nothing to learn from the training data: it is a single row (n_samples=1)"
        )
    if (low == high).all():
        which = "the only channel is" if X.shape[1] == 1 else f"all {X.shape[1]} channels are"
        raise InputError(
            f"nothing to learn from the training data: {which} constant in its {len(X)} rows; "
            "fit on rows in which at least one channel changes"
        )


def wrong_size(channel: int, size: float, names: Names) -> InputError:
    """Return the error for a channel whose largest value overflows or underflows when squared."""
    return InputError(
        f"channel {channel_label(channel, names)} holds values up to {size:.3g}, "
        f"too {'large' if size > 1 else 'small'} to compute a standard deviation; rescale it first"
    )


def channel_label(index: int, names: Names) -> str:
    """Return the quoted name of a channel, or its number if there are no names."""
    return repr(names[index]) if names is not None else str(index)


def match_channels(
    X: Matrix,
    names: Names,
    *,
    expected: Names,
    count: int,
    of: str = "the model",
    hint: str = "",
) -> Matrix:
    """Return ``X`` with its channels in the ``expected`` order; raise ``ChannelError`` by name.

    If either side has no names, only the number of channels is checked. ``of`` is who expects them;
    ``hint`` says what to do about channels that are missing.
    """
    if names is not None and expected is not None:
        check_extra(names, expected)
        missing = [name for name in expected if name not in names]
        if missing:
            raise ChannelError(f"X lacks {_listed(missing)} the model was fitted on{hint}")
        return X if names == expected else X[:, [names.index(name) for name in expected]]
    if X.shape[1] != count:
        raise ChannelError(  # scikit-learn's words; a feature is a channel
            f"X has {X.shape[1]} features, but {of} is expecting {count} features as input, the "
            "channels of training"
        )
    return X


def check_extra(names: Iterable[str], expected: Sequence[str]) -> None:
    """Raise ``ChannelError`` with all names that are not among the expected ones."""
    extra = [name for name in names if name not in expected]
    if extra:
        hint = suggest(str(extra[0]), expected) if len(extra) == 1 else ""
        it = "them" if len(extra) > 1 else "it"
        hint = hint or f"; drop {it} (--ignore-extra), or fit again with {it}"
        raise ChannelError(f"{_listed(extra)} not in model{hint}")


def _listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for a message.

    >>> _listed(["a", "b"])
    "channels 'a', 'b'"
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    plural = "s" if len(names) > 1 else ""
    return f"channel{plural} {', '.join(map(repr, names[:most]))}{more}"


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    try:
        return np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"X cannot be read as an array: {error}") from None


def _frame_values(X: Any, names: tuple[str, ...]) -> NDArray[Any]:
    """Return a pandas or polars frame as one numeric array."""
    check_unique(names)
    is_pandas = hasattr(X, "iloc")
    for name, kind in zip(names, X.dtypes, strict=True):
        if is_pandas:
            is_numeric = getattr(kind, "kind", "O") in "biuf"
        else:
            is_numeric = kind.is_numeric() or str(kind) == "Boolean"
        if not is_numeric:
            raise InputError(
                f"column {name!r} is not numeric; drop it, or convert it to numbers first"
            )
    if not is_pandas:
        return np.asarray(X.to_numpy())
    dtype = np.float32 if {str(kind) for kind in X.dtypes} == {"float32"} else np.float64
    return np.asarray(X.to_numpy(dtype=dtype, na_value=np.nan))  # nullable types need both


def _to_float(array: NDArray[Any], names: Names) -> Matrix:
    if array.dtype.kind == "f":
        if array.dtype.itemsize in (4, 8):
            return array
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    reason = ""
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is {array.dtype}; use two real channels")
    if array.dtype.kind in "biuO":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            reason = f" ({error!s:.100})"
    where = f" (column {names[0]!r})" if names else ""
    raise NotNumericError(
        f"X must be numeric, got values of type {array.dtype}{where}{reason}; convert them to "
        "numbers first"
    )
