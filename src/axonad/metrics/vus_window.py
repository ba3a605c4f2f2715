"""The window of the VUS metrics: an integer, or a rule based on the main period of a channel.

Both rules take the highest local maximum of the autocorrelation (lags 3 ... 400, first 20,000
steps) as the period:

- ``"tsb-ad-1.5"``: PyPI release 1.5. A period below 6 or above 303 steps becomes 125.
- ``"tsb-ad-2026"``: the repository since 2026-02-18. Only a period above 303 becomes 125.

Without window and channel the window is 100, as in TSB-AD. With a channel the default is
``"tsb-ad-2026"``.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from axonad.errors import ConfigError, InputError, UnknownNameError, suggest
from axonad.metrics.ranges import FloatArray

DEFAULT_WINDOW = 100
DEFAULT_RULE = "tsb-ad-2026"
FALLBACK_PERIOD = 125
RULES = {"tsb-ad-1.5": 3, "tsb-ad-2026": 0}  # name -> smallest accepted index of the maximum

_FIRST_LAG, _LAST_LAG, _LAST_INDEX, _STEPS = 3, 400, 300, 20_000


class Window(NamedTuple):
    """A VUS window and its origin."""

    length: int
    source: str  # "given", "default" or the name of a rule


def choose_window(window: int | str | None = None, *, channel: ArrayLike | None = None) -> Window:
    """Return the VUS window for an integer, a rule name, or the default.

    >>> choose_window(50), choose_window()
    (Window(length=50, source='given'), Window(length=100, source='default'))
    """
    if window is None and channel is None:
        return Window(DEFAULT_WINDOW, "default")
    if window is None:
        window = DEFAULT_RULE
    if isinstance(window, str):
        if channel is None:
            _check_rule(window)
            raise InputError(
                f"window rule {window!r} needs a channel, got none; pass channel=test.values[:, 0]"
            )
        return Window(find_period(channel, rule=window), window)
    return Window(check_window(window), "given")


def check_window(window: int) -> int:
    """Return the window as an int; raise ``ConfigError`` unless it is an integer of 0 or more."""
    try:
        length = -1 if isinstance(window, bool) else operator.index(window)
    except TypeError:
        length = -1
    if length < 0:
        raise ConfigError(
            f"window must be a whole number of steps, 0 or more, or a rule"
            f" ({', '.join(RULES)}), got {window!r}"
        )
    return length


def find_period(channel: ArrayLike, *, rule: str = DEFAULT_RULE) -> int:
    """Return the main period of a channel in steps, by the named rule.

    >>> find_period(np.sin(np.arange(1000) / 50 * 2 * np.pi))
    50
    """
    _check_rule(rule)
    values = np.asarray(channel)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not values.size or values.dtype.kind not in "biuf":
        raise InputError(
            f"channel must be one column of numbers, got shape {values.shape} and dtype"
            f" {values.dtype}; pass a single channel, for example values[:, 0]"
        )
    values = values[:_STEPS].astype(np.float64)
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f"channel must be finite, got {values[place]} at step {place}; drop rows with gaps"
            " first, as TSB-AD does"
        )
    correlation = _autocorrelation(values)[_FIRST_LAG:]
    middle = correlation[1:-1]
    peaks = 1 + np.flatnonzero((middle > correlation[:-2]) & (middle > correlation[2:]))
    if not peaks.size:
        return FALLBACK_PERIOD
    heights = correlation[peaks]
    index = int(peaks[np.flatnonzero(heights == heights.max())[-1]])
    return index + _FIRST_LAG if RULES[rule] <= index <= _LAST_INDEX else FALLBACK_PERIOD


def _check_rule(rule: str) -> None:
    if rule not in RULES:
        raise UnknownNameError(
            f"window rule {rule!r} is not known{suggest(rule, RULES)}; use one of"
            f" {', '.join(RULES)} or a number of steps"
        )


def _autocorrelation(values: FloatArray) -> FloatArray:
    """Return the biased autocorrelation at lags 0 ... 400; zeros for a constant channel."""
    centred = values - values.mean()
    spectrum = np.fft.fft(centred, n=_smooth_length(2 * values.size + 1))
    covariance = np.fft.ifft(spectrum * np.conjugate(spectrum)).real[: values.size]
    covariance = covariance[: _LAST_LAG + 1]
    if covariance[0] == 0:
        return np.zeros_like(covariance)
    return np.asarray(covariance / covariance[0], dtype=np.float64)


def _smooth_length(length: int) -> int:
    """Return the smallest number of at least ``length`` whose prime factors are 2, 3 and 5."""
    while 30**20 % length:  # 0 for exactly these numbers, up to 2**20
        length += 1
    return length
