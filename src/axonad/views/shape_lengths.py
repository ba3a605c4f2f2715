"""Window lengths of the shape memory: the dominant period of a series, and what goes with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHORTEST, LONGEST = 16, 256  # steps of a dominant period
STEPS = 20_000  # rows from which the period is found
FIXED = (64, 128)  # lengths beside the period and one and a half of it
FEWEST = 8  # steps of the shortest window, for series too short for any of these lengths
SPARE = 20  # a length L needs more than 2 L + SPARE training rows


def rows_needed(length: int) -> int:
    """Return the number of training rows from which on a window length is used."""
    return 2 * length + SPARE + 1


def window_lengths(Z: NDArray[np.floating]) -> tuple[int, ...]:
    """Return the lengths for a training series, of which ``Z`` holds the channels that move.

    These are the dominant period, one and a half of it, 64 and 128, as far as two windows and a
    little more fit into the series; if none does, the longest length that fits.
    """
    period = dominant_period(Z)
    wanted = {*FIXED} if period is None else {*FIXED, period, round(1.5 * period)}
    fitting = sorted(length for length in wanted if len(Z) >= rows_needed(length))
    return tuple(fitting) or (max(FEWEST, (len(Z) - SPARE - 1) // 2),)


def dominant_period(Z: NDArray[np.floating]) -> int | None:
    """Return the median over channels of the lag of the largest autocorrelation maximum.

    Only local maxima at lags from 16 to 256 count; None if no channel has one.
    """
    values = np.asarray(Z[:STEPS], dtype=np.float64)
    found = [lag for channel in values.T if (lag := _highest_peak(channel)) is not None]
    return round(float(np.median(found))) if found else None


def _highest_peak(channel: NDArray[np.float64]) -> int | None:
    """Return the lag of the largest local maximum of a channel's autocorrelation, None if none."""
    last = min(LONGEST, len(channel) - 2)
    spectrum = np.fft.rfft(channel - channel.mean(), 2 * len(channel))
    correlation = np.fft.irfft(np.abs(spectrum) ** 2)[: last + 2]
    if last < SHORTEST or correlation[0] <= 0:
        return None
    middle = correlation[SHORTEST : last + 1]
    before, after = correlation[SHORTEST - 1 : last], correlation[SHORTEST + 1 : last + 2]
    peaks = np.flatnonzero((middle > before) & (middle >= after))
    return SHORTEST + int(peaks[np.argmax(middle[peaks])]) if len(peaks) else None
