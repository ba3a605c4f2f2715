"""What ``fit`` is given, as one matrix: one series, or several recordings.

A list or tuple whose entries are Series, frames or two-dimensional arrays is a set of recordings.
Anything else, such as a list of rows, is one series. A recording, or a stretch of one between gaps,
that is shorter than a window is left out and named.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from axonad.data.context import check_rest
from axonad.data.frames import (
    Matrix,
    Names,
    check_finite,
    check_sound,
    match_channels,
    to_matrix,
)
from axonad.data.recordings import Recordings
from axonad.data.series import Series, with_times
from axonad.data.timing import RATE
from axonad.errors import ChannelError, DataWarning, InputError
from axonad.stretches import StretchFinder
from axonad.threshold import check_rate

LISTED = 8  # recordings named in one sentence

Needed = Callable[[Matrix, Recordings], int]
"""Rows that the shortest stretch must have, given all that are long enough for a score."""


class TrainingData(NamedTuple):
    """Rows to learn from, one recording below the other."""

    values: Matrix
    names: Names
    recordings: Recordings
    interval: float | None  # seconds between two rows; None if it is not known


class _Part(NamedTuple):
    """A recording: its name, rows, stretches and sampling interval."""

    name: str
    values: Matrix
    stretches: list[slice]
    interval: float | None


def is_set(X: Any) -> bool:
    """Whether ``X`` is a set of recordings; raise ``InputError`` if only some entries are.

    >>> is_set([[1.0, 2.0], [3.0, 4.0]]), is_set([np.zeros((2, 2)), np.zeros((3, 2))])
    (False, True)
    """
    if not isinstance(X, list | tuple) or not any(map(_is_recording, X)):
        return False
    for number, entry in enumerate(X, 1):
        if not _is_recording(entry):
            raise InputError(
                f"recording {number} of {len(X)} must be a Series, a frame or an array (time, "
                f"channels), got {type(entry).__name__}"
            )
    return True


def as_list(X: Any) -> list[Any]:
    """Return the recordings of a set; one series is a list of one."""
    return list(X) if is_set(X) else [X]


def timed(X: Any) -> Any:
    """Return training data in which frames that have times are Series."""
    return [with_times(entry) for entry in X] if is_set(X) else with_times(X)


class Learner(Protocol):
    """The part of a detector that decides what it can learn from."""

    contamination: float
    threshold: str
    context: tuple[str, ...]
    divides: ClassVar[bool]

    @property
    def history(self) -> int:
        """Number of rows a score needs."""

    @property
    def is_causal(self) -> bool:
        """Whether a score depends on its window alone."""

    def rows_needed(self, X: Matrix, recordings: Recordings) -> int:
        """Return how many rows the shortest stretch must have."""


def list_long(entries: Sequence[Any], rows: int) -> list[Any]:
    """Return the recordings with at least so many rows; name those that are left out.

    One series is returned as it is. Raise ``InputError`` if none of several is long enough.
    """
    if len(entries) == 1:
        return list(entries)
    parts = [
        _Part(recording_name(entry, number), entry, [slice(0, len(to_matrix(entry)[0]))], None)
        for number, entry in enumerate(entries, 1)
    ]
    return [part.values for part in _long_enough(parts, rows)]


def gather_for(detector: Learner, X: Any) -> TrainingData:
    """Return one series or several recordings as rows a detector can learn from."""
    history = detector.history
    divides = detector.divides or history == 1
    if not divides and len(as_list(X)) > 1:
        raise InputError(
            f"{type(detector).__name__} learns from one recording, got {len(as_list(X))}: its "
            "windows would reach from one to the next; pass one series"
        )
    split = divides and detector.is_causal
    found = gather(X, history=history, needed=detector.rows_needed, split=split)
    check_sound(found.values, found.names)
    check_rest(detector.context, found.values, found.names)
    check_length(found.values, history)
    check_rate(rule=detector.threshold, rate=detector.contamination, steps=len(found.values))
    return found


def check_length(X: Matrix, history: int) -> None:
    """Raise ``InputError`` if there are fewer rows than a score needs."""
    if len(X) < history:
        raise InputError(
            f"window must be at most the series length {len(X)}, got {history}; "
            f"X needs at least {history} rows"
        )


def gather(
    X: Any, *, history: int, needed: Needed | None = None, split: bool = True
) -> TrainingData:
    """Return one series or several recordings as rows to learn from.

    Parameters
    ----------
    X
        What ``fit`` was given.
    history
        Rows a score needs; shorter stretches are left out.
    needed
        May ask for longer ones.
    split
        Whether to divide recordings where time breaks; otherwise this is only warned of.
    """
    entries = as_list(X)
    if len(entries) == 1:
        values, names = to_matrix(entries[0])
        parts = [_part(entries[0], values, recording_name(entries[0], 1), split=split)]
    else:
        parts, names = _match(entries, split=split)
    interval = _common_interval(parts)
    if len(parts) == 1 and parts[0].stretches == [slice(0, len(parts[0].values))]:
        rows = parts[0].values
        return TrainingData(rows, names, Recordings.one(len(rows)), interval)
    parts = _long_enough(parts, history)
    values, recordings = _stack(parts)
    if needed is not None and (least := needed(values, recordings)) > history:
        values, recordings = _stack(_long_enough(parts, least))
    return TrainingData(values, names, recordings, interval)


def recording_name(X: Any, number: int) -> str:
    """Return what to call the recording of this number, from 1 on."""
    return X.name if isinstance(X, Series) and X.name != "series" else f"recording {number}"


def _is_recording(entry: Any) -> bool:
    if isinstance(entry, Series) or (hasattr(entry, "columns") and hasattr(entry, "dtypes")):
        return True
    return getattr(entry, "ndim", None) == 2


def _match(entries: Sequence[Any], *, split: bool) -> tuple[list[_Part], Names]:
    """Return all recordings with the channels of the first, in its order."""
    parts: list[_Part] = []
    expected: Names = None
    for number, entry in enumerate(entries, 1):
        name = recording_name(entry, number)
        try:
            values, names = to_matrix(entry)
            if number == 1:
                expected, count = names, values.shape[1]
            values = match_channels(values, names, expected=expected, count=count)
            part = _part(entry, values, name, split=split)
            for stretch in part.stretches:
                check_finite(part.values[stretch], expected, purpose="X")
        except ChannelError as error:
            raise ChannelError(f"{name}, unlike {parts[0].name}: {error}") from None
        except InputError as error:
            text = str(error)
            raise InputError(text if text.startswith(name) else f"{name}: {text}") from None
        parts.append(part)
    return parts, expected


def _part(X: Any, values: Matrix, name: str, *, split: bool) -> _Part:
    """Return a recording with the stretches of rows that can be used."""
    if not isinstance(X, Series) or (X.times is None and X.unusable is None):
        return _Part(name, values, [slice(0, len(values))], None)
    finder = StretchFinder(window=1, interval=None)
    finder.add(X)
    stretches = finder.find(name, split=split)
    if X.unusable is not None:
        _warn(
            f"{name}: {_missing(X)} of {len(X)} rows have missing values and are not learned from"
        )
        if not split:  # the rows that are left are joined
            values = values[~X.unusable]
            stretches = [slice(0, len(values))]
    return _Part(name, values, stretches, finder.interval)


def _common_interval(parts: Sequence[_Part]) -> float | None:
    """Return the sampling interval of the recordings; raise ``InputError`` if they differ."""
    known = [(part.interval, part.name) for part in parts if part.interval is not None]
    if not known:
        return None
    (low, fast), (high, slow) = min(known), max(known)
    if high > RATE * low:
        raise InputError(
            f"rows of {fast} are {low:.6g} s apart, those of {slow} {high:.6g} s; resample the "
            "recordings to one interval, or leave the time column out (--ignore)"
        )
    return float(np.median([interval for interval, _ in known]))


def _long_enough(parts: Sequence[_Part], least: int) -> list[_Part]:
    """Return the recordings with their stretches of at least so many rows; name what is left out.

    Raise ``InputError`` if nothing is left.
    """
    kept, short = [], []
    for part in parts:
        rows = [stretch.stop - stretch.start for stretch in part.stretches]
        longest = max(rows, default=0)
        if longest < least:
            short.append(f"{part.name} ({longest} rows{' without a gap' * (len(rows) > 1)})")
            continue
        long = [stretch for stretch in part.stretches if stretch.stop - stretch.start >= least]
        if len(long) < len(rows):
            lost = sum(rows) - sum(stretch.stop - stretch.start for stretch in long)
            _warn(
                f"{part.name}: {lost} rows are not learned from, because fewer than the {least} of "
                "a window follow one another without a gap"
            )
        kept.append(part._replace(stretches=long))
    listed = ", ".join(short[:LISTED]) + f" and {len(short) - LISTED} more" * (len(short) > LISTED)
    if not kept:
        raise InputError(
            f"window must be at most the rows without a gap, got {least}; too short: {listed}"
        )
    if short:
        _warn(f"left out, shorter than the {least} rows of a window: {listed}")
    return kept


def _stack(parts: Sequence[_Part]) -> tuple[Matrix, Recordings]:
    """Return the rows of all stretches and how they divide."""
    pieces = [[part.values[stretch] for stretch in part.stretches] for part in parts]
    lengths = tuple(len(piece) for own in pieces for piece in own)
    whole = tuple(sum(map(len, own)) for own in pieces)
    return np.concatenate([piece for own in pieces for piece in own]), Recordings(lengths, whole)


def _missing(X: Series) -> int:
    return 0 if X.unusable is None else int(X.unusable.sum())


def _warn(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=6)
