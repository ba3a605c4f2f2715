"""Window lengths of the shape memory: the dominant period of a series, and what goes with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.data.recordings import Recordings

SHORTEST, LONGEST = 16, 256  # steps of a dominant period
STEPS = 20_000  # rows from which the period is found
FIXED = (64, 128)  # lengths beside the period and one and a half of it
FEWEST = 8  # steps of the shortest window, for series too short for any of these lengths
SPARE = 20  # a length L needs more than 2 L + SPARE training rows
MOST = 0.9  # share of the rows that must lie in stretches as long as a window


def rows_needed(length: int) -> int:
    """Return the number of training rows from which on a window length is used."""
    return 2 * length + SPARE + 1


def window_lengths(
    Z: NDArray[np.floating], recordings: Recordings | None = None
) -> tuple[int, ...]:
    """Return the lengths for a training series, of which ``Z`` holds the channels that move.

    These are the dominant period, one and a half of it, 64 and 128, as far as two windows and a
    little more fit into the series and one into each of its stretches; if none does, the longest
    length that fits.
    """
    divided = Recordings.one(len(Z)) if recordings is None else recordings
    shortest = min(divided.lengths)
    fitting = [length for length in _wanted(Z, divided) if length <= shortest]
    return tuple(fitting) or (max(FEWEST, (shortest - SPARE - 1) // 2),)


def lengths_for_most(Z: NDArray[np.floating], recordings: Recordings) -> list[int]:
    """Return the lengths that fit into stretches with nearly all rows, whatever the shortest."""
    rows = np.array(recordings.lengths)
    return [
        length
        for length in _wanted(Z, recordings)
        if rows[rows >= length].sum() >= MOST * rows.sum()
    ]


def _wanted(Z: NDArray[np.floating], recordings: Recordings) -> list[int]:
    """Return the lengths of which two windows and a little more fit into the series."""
    period = dominant_period(Z, recordings)
    wanted = {*FIXED} if period is None else {*FIXED, period, round(1.5 * period)}
    return sorted(length for length in wanted if len(Z) >= rows_needed(length))


def dominant_period(Z: NDArray[np.floating], recordings: Recordings | None = None) -> int | None:
    """Return the median over channels of the lag of the largest autocorrelation maximum.

    Only local maxima at lags from 16 to 256 count; None if no channel has one. Autocorrelations of
    several stretches are added.
    """
    divided = Recordings.one(len(Z)) if recordings is None else recordings
    parts = divided.before(min(STEPS, len(Z))).parts
    values = np.asarray(Z[:STEPS], dtype=np.float64)
    found = [
        lag
        for channel in values.T
        if (lag := _highest_peak([channel[part] for part in parts])) is not None
    ]
    return round(float(np.median(found))) if found else None


def _highest_peak(parts: Sequence[NDArray[np.float64]]) -> int | None:
    """Return the lag of the largest local maximum of a channel's autocorrelation, None if none."""
    last = min(LONGEST, max(map(len, parts)) - 2)
    if last < SHORTEST:
        return None
    correlation = sum((_correlation(part, last + 2) for part in parts), np.zeros(last + 2))
    if correlation[0] <= 0:
        return None
    middle = correlation[SHORTEST : last + 1]
    before, after = correlation[SHORTEST - 1 : last], correlation[SHORTEST + 1 : last + 2]
    peaks = np.flatnonzero((middle > before) & (middle >= after))
    return SHORTEST + int(peaks[np.argmax(middle[peaks])]) if len(peaks) else None


def _correlation(part: NDArray[np.float64], lags: int) -> NDArray[np.float64]:
    """Return the sums of products of values so many rows apart; 0 for more rows than there are."""
    spectrum = np.fft.rfft(part - part.mean(), 2 * len(part))
    found = np.fft.irfft(np.abs(spectrum) ** 2)[: min(lags, len(part))]
    return np.pad(found, (0, lags - len(found)))
