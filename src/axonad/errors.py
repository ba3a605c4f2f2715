"""Every error this package raises on purpose.

AxonADError
├── InputError          (ValueError)    data that cannot be used: shape, length, NaN, labels
│   ├── ChannelError                    channel count or names do not fit the model
│   └── StaleError                      a live channel has been silent for too long
├── ConfigError         (ValueError)    a parameter with an impossible value or an unknown name
├── UnknownNameError    (LookupError)   no detector, metric, rule or format of that name
├── NotFittedError      (AttributeError, ValueError)  used before ``fit``
├── DivergedError       (ArithmeticError) training ended in numbers that are not finite
├── FleetError          (RuntimeError)  some of the detectors fitted together could not be fitted
├── FileError           (OSError)       a file that is missing, in the way or unreadable
│   └── ModelFileError                  a saved detector or stream state that cannot be loaded
└── MissingDependencyError (ImportError) an optional package is not installed

Each class also inherits the builtin a caller would expect, so ``except ValueError`` works.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any


class AxonADError(Exception):
    """Base of every error raised on purpose by axonad."""


class InputError(AxonADError, ValueError):
    """Data that cannot be used as given."""


class ChannelError(InputError):
    """Channel count or names do not fit what the detector was fitted on."""


class StaleError(InputError):
    """A live row lacks a value, and there is none recent enough to hold in its place.

    ``results`` holds what ``push_many`` had scored before the refused row, ``row`` its number. From
    a fleet ``results`` are those of all other vehicles, and ``refused`` says why, by vehicle.
    """

    def __init__(
        self,
        message: str,
        *,
        results: Sequence[Any] | Mapping[Any, Any] = (),
        row: int = 0,
        refused: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.results: Any = dict(results) if isinstance(results, Mapping) else list(results)
        self.row = row
        self.refused = dict(refused or {})


class ConfigError(AxonADError, ValueError):
    """A parameter has an impossible value, or there is no such parameter."""


class UnknownNameError(AxonADError, LookupError):
    """Nothing is registered under that name."""


class NotFittedError(AxonADError, AttributeError, ValueError):
    """The detector was asked to score before it was fitted."""


class DivergedError(AxonADError, ArithmeticError):
    """Training ended in numbers that are not finite."""


class FleetError(AxonADError, RuntimeError):
    """Some of the detectors handed to ``fit_many`` could not be fitted; the others are.

    ``errors`` holds what each of them would have raised alone, by its place in the list.
    """

    def __init__(self, message: str, *, errors: Mapping[int, Exception]) -> None:
        super().__init__(message)
        self.errors = dict(errors)


class FileError(AxonADError, OSError):
    """A file is missing, in the way, or cannot be read."""


class ModelFileError(FileError):
    """A saved detector or stream state cannot be loaded."""


class MissingDependencyError(AxonADError, ImportError):
    """An optional package is needed and not installed."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest known name, or an empty string.

    >>> suggest("yaw_rat", ["speed", "yaw_rate"])
    "; did you mean 'yaw_rate'?"
    """
    names = {one.lower(): one for one in known}
    close = [names[one] for one in get_close_matches(name.lower(), names, n=1, cutoff=0.6)]
    return f"; did you mean {close[0]!r}?" if close else ""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an allocator gave up; torch says so in the words of a RuntimeError.

    >>> is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"))
    True
    """
    text = str(error).lower()
    words = ("out of memory", "not enough memory", "can't allocate memory", "unable to allocate")
    return isinstance(error, MemoryError) or any(part in text for part in words)
