"""Convert and check input: arrays, frames and series become a float matrix (time, channels).

Frames are recognised by their methods, so neither pandas nor polars is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.time_columns import find_time_column, may_be_time, only_increases
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
    elif is_frame(X):
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


def numbered(count: int) -> tuple[str, ...]:
    """Return what channels without names are called: their numbers."""
    return tuple(map(str, range(count)))


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


def check_numbered(names: Sequence[str], *, count: int, of: str) -> None:
    """Raise ``ChannelError`` for a frame whose columns are not the numbers of the channels.

    For a model of ``count`` channels without names: which column is which, only the caller knows.
    """
    if tuple(names) != numbered(count):
        raise ChannelError(
            f"X has {_listed(names, 5).replace('channel', 'column', 1)}, but {of} was fitted on an "
            "array without names; pass X.to_numpy() to match the columns by position"
        )


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


def is_frame(X: Any) -> bool:
    """Return whether ``X`` is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "to_numpy")


def frame_units(X: Any) -> dict[str, str]:
    """Return the units by channel in ``X.attrs["units"]``, as pandas frames may have them."""
    attributes = getattr(X, "attrs", None)
    units = attributes.get("units") if isinstance(attributes, Mapping) else None
    if units is None:
        return {}
    if not isinstance(units, Mapping) or not all(isinstance(u, str) for u in units.values()):
        raise InputError(
            f"attrs['units'] of a frame must be a table of channels and their units as text, got "
            f"{units!r:.60}"
        )
    names = {str(name) for name in X.columns}
    return {str(name): unit for name, unit in units.items() if unit and str(name) in names}


def split_time(
    X: Any, *, time: str | bool = True, known: Collection[str] | None = None
) -> tuple[Any, NDArray[Any] | None, str | None]:
    """Return a frame without its time, the time, and the column of numbers that is taken as it.

    ``time`` is a column, True to find it by the rule of :mod:`axonad.data.time_columns`, or False
    if the frame has none. ``known`` are the channels of the model that scores the frame.
    """
    if time is False:
        return X, None, None
    names = [str(name) for name in X.columns]
    check_unique(names)
    if isinstance(time, str):
        if time not in names:
            hint = suggest(time, names) or f"; columns: {', '.join(map(repr, names[:10]))}"
            raise ChannelError(f"the frame has no column {time!r}{hint}")
        return *_take_column(X, time), None
    index = _index_times(X, known)
    if index is not None:
        return X, index, None
    kinds = dict(zip(names, map(_kind_of, X.dtypes), strict=True))
    found = find_time_column(names, known=known, dated=[n for n in names if kinds[n] == "time"])
    if found is None and known is None and len(names) > 1:
        numbers = (name for name in names if may_be_time(name) and kinds[name] == "number")
        found = next((name for name in numbers if only_increases(_column(X, name))), None)
    if found is None:
        return X, None, None
    return *_take_column(X, found), found if kinds[found] == "number" else None


def _take_column(X: Any, name: str) -> tuple[Any, NDArray[Any]]:
    """Return a frame without a column, and the column."""
    key = _key(X, name)
    return X.drop(columns=key) if hasattr(X, "iloc") else X.drop(key), _column(X, name)


def _column(X: Any, name: str) -> NDArray[Any]:
    """Return a column as an array; datetimes with a time zone are those of UTC."""
    own = X[_key(X, name)]
    if not hasattr(X, "iloc"):
        return np.asarray(own.to_numpy())
    if _kind_of(own.dtype) == "number":
        return np.asarray(own.to_numpy(dtype=np.float64, na_value=np.nan))
    is_zoned = getattr(own.dtype, "tz", None) is not None
    return np.asarray((own.dt.tz_convert(None) if is_zoned else own).to_numpy())


def _key(X: Any, name: str) -> Any:
    """Return what a frame calls the column with this name, which need not be text."""
    return next(one for one in X.columns if str(one) == name)


def _index_times(X: Any, known: Collection[str] | None) -> NDArray[Any] | None:
    """Return the index of a pandas frame if it is time by its type or name."""
    index = getattr(X, "index", None)
    if not hasattr(X, "iloc") or index is None:
        return None
    if getattr(index, "nlevels", 1) > 1:
        if any(_kind_of(kind) == "time" for kind in index.dtypes):
            raise InputError(
                "X has an index of several levels, one of which is time; pass a list with one "
                "frame for each recording: [part.droplevel(0) for _, part in X.groupby(level=0)]"
            )
        return None
    kind = _kind_of(index.dtype)
    named = None if index.name is None else find_time_column([str(index.name)], known=known or ())
    if kind == "time" or (kind in ("number", "text") and named is not None):
        is_zoned = getattr(index, "tz", None) is not None
        return np.asarray((index.tz_convert(None) if is_zoned else index).to_numpy())
    return None


def _kind_of(kind: Any) -> str:
    """Return what a column of a frame with this type holds: a number, time, text or other."""
    letter = getattr(kind, "kind", None)  # of numpy and pandas types
    if letter is not None:
        return {"M": "time", "m": "time"}.get(letter, "number" if letter in "biuf" else "text")
    if kind.is_numeric() or str(kind) == "Boolean":
        return "number"
    is_time = kind.is_temporal() and str(kind) != "Time"
    return "time" if is_time else "text" if str(kind) == "String" else "other"


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
    for name, kind in zip(names, X.dtypes, strict=True):
        if _kind_of(kind) != "number":
            raise InputError(
                f"column {name!r} is not numeric; drop it, or convert it to numbers first"
            )
    if not hasattr(X, "iloc"):
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
