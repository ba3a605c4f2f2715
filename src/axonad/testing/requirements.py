"""What the checks have in common: example data, and errors that say what a detector broke."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.detector import Detector
from axonad.errors import AxonADError

Make = Callable[[], Detector]


class CheckError(AxonADError, AssertionError):
    """A detector failed a check."""


def example(rows: int = 400, channels: int = 3, seed: int = 0) -> NDArray[np.float64]:
    """Return sine waves with a little noise, one per channel, of the same frequency."""
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / 7 + np.arange(channels)[None, :]
    return np.asarray(np.sin(phase) + 0.05 * rng.normal(size=(rows, channels)))


def require(condition: bool, message: str) -> None:
    """Raise :class:`CheckError` unless a condition holds."""
    if not condition:
        raise CheckError(message)


def require_equal(first: NDArray[Any], second: NDArray[Any], message: str) -> None:
    """Raise :class:`CheckError` unless two arrays are equal."""
    require(np.array_equal(first, second), message)


def require_finite(scores: NDArray[np.float64]) -> None:
    """Raise :class:`CheckError` unless all scores are finite."""
    require(bool(np.isfinite(scores).all()), "scores are not finite")


def require_raises(error: type[Exception], action: Callable[[], object], message: str) -> None:
    """Raise :class:`CheckError` unless an action raises this error, with a message."""
    try:
        action()
    except error as raised:
        require(bool(str(raised)), f"{error.__name__} has no message")
    else:
        raise CheckError(message)
