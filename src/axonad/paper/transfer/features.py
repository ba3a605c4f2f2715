"""Summary features of a training segment: a few numbers that need no labels.

Four groups; each feature is a median over the channels that vary, unless stated otherwise:

===================  ===============================================================================
``scale``            ``std`` log10 of the standard deviation, in the data's own units ·
                     ``spread`` interquartile range of ``std`` over the channels ·
                     ``iqr`` and ``range`` log10 of interquartile range and range, relative to the
                     standard deviation · ``constant`` share of constant channels
``shape``            ``skewness`` absolute value (a sensor's sign is a convention) ·
                     ``kurtosis`` excess over a Gaussian; both compressed by asinh
``autocorrelation``  ``lag_1`` … ``lag_100`` biased estimates, 0 beyond the segment's end ·
                     ``zero`` log10 of the first lag at which it is not positive
``spectrum``         averaged over Hann-windowed blocks of 256 steps that overlap by half ·
                     ``centroid`` and ``peak`` log10 of the mean and of the strongest frequency in
                     cycles per step, at least one cycle per block · ``entropy`` 0 for a single
                     line, 1 for white noise · ``low`` share of power below 1/32 cycles per step
===================  ===============================================================================

Only ``scale.std`` and ``scale.spread`` depend on the units, none on a channel's level. If all
channels are constant, all features are 0 except ``scale.constant``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import check_finite, to_matrix
from axonad.data.scaling import ROUNDING

Array = NDArray[np.float64]

MAX_ROWS = 100_000  # rows after these are ignored
LAGS = (1, 5, 10, 25, 100)
BLOCK = 256  # steps per spectrum, so that short and long segments have the same frequencies
LOW = 1 / 32  # cycles per step; slower than this is "low"
MIN_IQR = 1e-3  # standard deviations; the IQR of a channel that rarely moves is 0
DIGITS = 3  # relative powers are rounded to these before the strongest is chosen


def summary_features(X: Any) -> dict[str, float]:
    """Return the summary features of a segment (time, channels) as ``{"group.name": value}``.

    ``X`` is an array, frame or series of at least one row; rows after 100,000 are ignored.

    >>> import numpy as np
    >>> wave = np.sin(np.arange(2_000) * 2 * np.pi / 16)[:, None]
    >>> found = summary_features(wave)
    >>> round(1 / 10 ** found["spectrum.peak"]), round(10 ** found["autocorrelation.zero"])
    (16, 5)
    """
    X, names = to_matrix(X)
    check_finite(X, names, purpose="the segment")
    z, log_std = _standardise(X[:MAX_ROWS])
    groups = {
        "scale": _scale(z, log_std, X.shape[1]),
        "shape": _shape(z),
        "autocorrelation": _autocorrelation(z),
        "spectrum": _spectrum(z),
    }
    return {f"{group}.{k}": v for group, features in groups.items() for k, v in features.items()}


def _standardise(X: NDArray[Any]) -> tuple[Array, Array]:
    """Return the channels that vary, z-scored, and log10 of their standard deviation."""
    x = X.astype(np.float64)
    # a power of two scales without rounding and keeps squares of huge values from overflowing
    exponent = np.frexp(np.abs(x).max(axis=0))[1]
    x = np.ldexp(x, -exponent)
    varies = np.ptp(x, axis=0) > ROUNDING
    x, exponent = x[:, varies], exponent[varies]
    x -= x.mean(axis=0)
    std = x.std(axis=0)
    return x / std, np.log10(std) + exponent * np.log10(2.0)


def _median(values: Array) -> float:
    return float(np.median(values)) if values.size else 0.0


def _scale(z: Array, log_std: Array, channels: int) -> dict[str, float]:
    """Return the group of z-scored channels, given their log10 deviation and the number of all."""
    low, high = _quartiles(z)
    spread_low, spread_high = _quartiles(log_std)
    return {
        "std": _median(log_std),
        "spread": float(spread_high - spread_low),
        "iqr": _median(np.log10(np.maximum(high - low, MIN_IQR))),
        "range": _median(np.log10(np.ptp(z, axis=0))),
        "constant": 1.0 - z.shape[1] / channels,
    }


def _shape(z: Array) -> dict[str, float]:
    square = z * z
    skewness = (square * z).mean(axis=0)
    kurtosis = (square * square).mean(axis=0) - 3.0
    return {
        "skewness": _median(np.arcsinh(np.abs(skewness))),
        "kurtosis": _median(np.arcsinh(kurtosis)),
    }


def _autocorrelation(z: Array) -> dict[str, float]:
    lags = np.zeros((len(LAGS), z.shape[1]))
    zero = np.zeros(z.shape[1])
    for channel in range(z.shape[1]):  # one at a time: the padded FFT needs twice the memory
        correlation = _correlate(z[:, channel])
        for i, lag in enumerate(LAGS):
            lags[i, channel] = correlation[lag] if lag < len(correlation) else 0.0
        # biased estimates over all lags above 0 sum to -1/2, so at least one is negative
        zero[channel] = np.log10(np.argmax(correlation <= 0))
    found = {f"lag_{lag}": _median(values) for lag, values in zip(LAGS, lags, strict=True)}
    return {**found, "zero": _median(zero)}


def _spectrum(z: Array) -> dict[str, float]:
    length = min(BLOCK, len(z))
    frequency = np.fft.rfftfreq(length)
    centroid, entropy, low, peak = np.zeros((4, z.shape[1]))
    for channel in range(z.shape[1]):
        power = _power(z[:, channel], length)
        share = power / power.sum()
        centroid[channel] = max(share @ frequency, 1 / length)
        peak[channel] = max(frequency[np.argmax(np.round(power / power.max(), DIGITS))], 1 / length)
        present = share[share > 0]
        entropy[channel] = -(present * np.log(present)).sum() / np.log(len(share))
        low[channel] = share[frequency < LOW].sum()
    return {
        "centroid": _median(np.log10(centroid)),
        "entropy": _median(entropy),
        "low": _median(low),
        "peak": _median(np.log10(peak)),
    }


def _quartiles(values: Array) -> tuple[Any, Any]:
    if not values.size:
        return np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    low, high = np.percentile(values, [25, 75], axis=0)
    return low, high


def _correlate(z: Array) -> Array:
    """Return the biased autocorrelation of one channel at every lag, exactly 1 at lag 0."""
    size = 1 << (2 * len(z) - 1).bit_length()
    product = np.fft.irfft(np.abs(np.fft.rfft(z, size)) ** 2, size)[: len(z)]
    correlation: Array = product / product[0]
    # otherwise rounding errors of the FFT decide at which lag an exact zero is found
    return np.round(correlation, 12)


def _power(z: Array, length: int) -> Array:
    """Return one channel's mean power per frequency; blocks are not detrended."""
    step = max(1, length // 2)
    blocks = np.lib.stride_tricks.sliding_window_view(z, length)[::step]
    window = np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 2
    power: Array = (np.abs(np.fft.rfft(blocks * window, axis=1)) ** 2).mean(axis=0)
    return power
