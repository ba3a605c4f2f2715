"""The exceptions of this package.

AxonADError
├── InputError          (ValueError)    unusable data: shape, length, NaN, labels
│   ├── ChannelError                    channel count or names differ from those of the model
│   ├── NotNumericError (TypeError)     values that are not numbers
│   └── StaleError                      a channel of a stream has had no value for too long
├── ConfigError         (ValueError)    a parameter has an invalid value or an unknown name
├── UnknownNameError    (LookupError)   no detector, metric, rule or format has that name
├── NotFittedError      (ValueError, AttributeError)  used before ``fit``; scikit-learn's, too
├── DivergedError       (ArithmeticError) training produced NaN or infinite values
├── FleetError          (RuntimeError)  ``fit_many`` could not fit some of its detectors
├── FileError           (OSError)       a file is missing, exists already or cannot be read
│   └── ModelFileError                  a saved detector or stream state cannot be loaded
└── MissingDependencyError (ImportError) an optional package is not installed

DataWarning (UserWarning) is issued where work goes on but the user should know something about
their data or files; the command line prints it as one line that starts with "note:".

Each class also inherits the matching built-in exception, so ``except ValueError`` works.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Self, cast


class AxonADError(Exception):
    """Base class of all exceptions of axonad."""


class InputError(AxonADError, ValueError):
    """The data cannot be used as given."""


class ChannelError(InputError):
    """The channel count or names differ from those the detector was fitted on."""


class NotNumericError(InputError, TypeError):
    """The data holds values that are not numbers."""


class StaleError(InputError):
    """A row of a stream lacks a value, and the last known one is too old to replace it."""


class ConfigError(AxonADError, ValueError):
    """A parameter has an invalid value or an unknown name."""


class UnknownNameError(AxonADError, LookupError):
    """Nothing is registered under that name."""


class NotFittedError(AxonADError, ValueError, AttributeError):
    """The detector was used before it was fitted.

    Where scikit-learn is loaded, ``except sklearn.exceptions.NotFittedError`` catches it too.
    """

    def __new__(cls, *arguments: Any) -> Self:
        """Return an instance that is also scikit-learn's, where that is loaded."""
        theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
        joined = theirs is not None and cls is NotFittedError
        return super().__new__(cast("type[Self]", _joined(theirs)) if joined else cls, *arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return NotFittedError, self.args  # a process without scikit-learn can read it, too


@cache
def _joined(theirs: type[Exception]) -> type[NotFittedError]:
    """Return a class that is ours and theirs, under our name."""
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})


class DivergedError(AxonADError, ArithmeticError):
    """Training produced NaN or infinite values."""


class FleetError(AxonADError, RuntimeError):
    """``fit_many`` could not fit some of its detectors; the others are fitted.

    ``errors`` holds the exception of each failed detector, by its index in the list.
    """

    def __init__(self, message: str, *, errors: Mapping[int, Exception]) -> None:
        super().__init__(message)
        self.errors = dict(errors)


class FileError(AxonADError, OSError):
    """A file is missing, exists already or cannot be read."""


class ModelFileError(FileError):
    """A saved detector or stream state cannot be loaded."""


class MissingDependencyError(AxonADError, ImportError):
    """An optional package is not installed."""


class DataWarning(UserWarning):
    """Something about the data or a file that the user should know; the work goes on."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the closest known name, or an empty string.

    >>> suggest("yaw_rat", ["speed", "yaw_rate"])
    "; did you mean 'yaw_rate'?"
    """
    names = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; torch reports that as a ``RuntimeError`` with a known text.

    >>> is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"))
    True
    """
    text = str(error).lower()
    words = ("out of memory", "not enough memory", "can't allocate memory", "unable to allocate")
    return isinstance(error, MemoryError) or any(part in text for part in words)
