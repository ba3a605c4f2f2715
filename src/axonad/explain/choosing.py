"""Which products of channels are used, and how strong the penalty is.

A product is a candidate if it goes with what a regression without products leaves of some channel;
the best few of each channel are taken. Whether products are used at all, and with which penalty,
is decided on the first and the last fifth of the sample, each predicted from the other four: parts
of a recording that may be unlike the rest. A relation that only fits where it was learned loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.explain.features import ROWS_PER_FEATURE, Features, multiply

Array = NDArray[np.float64]

PENALTIES = (1e-4, 1e-3, 1e-2)  # in units of a channel's variance
MOST_PRODUCTS = 160
MOST_CHANNELS = 60  # with more, there are no products
SCREENED_ROWS = 4_000
WORTH = 0.05  # smallest correlation of a product with what is left of a channel
LEAST_ERROR = 0.003


class Choice(NamedTuple):
    """The features and the penalty of all regressions."""

    features: Features
    penalty: float


def residual_map(
    moments: Array, features: Features, *, penalty: float, left_out: tuple[int, ...] = ()
) -> Array:
    """Return the map from features to residuals of the channels, each given all others.

    Neither past rows nor products of a channel help to predict it. Columns of the channels that
    are ``left_out`` are 0, and so are the rows of their features.
    """
    used = np.flatnonzero(~features.touching(left_out))
    system = moments[np.ix_(used, used)] + penalty * np.eye(len(used))
    inverse = np.asarray(np.linalg.inv(system), dtype=np.float64)
    first, second = features.first[used], features.second[used]
    result = np.zeros((features.count, features.channels))
    for j in range(features.channels):
        if j in left_out:
            continue
        here = int(np.searchsorted(used, j))
        own = np.flatnonzero((first == j) | (second == j))
        own = own[own != here]
        column = inverse[:, here].copy()
        if len(own):
            among = inverse[np.ix_(own, own)]
            column -= inverse[:, own] @ np.linalg.solve(among, inverse[own, here])
            column[own] = 0.0
        result[used, j] = column / column[here]
    return result


def choose(pieces: Sequence[Array], rows: int) -> Choice:
    """Return features and penalty for scaled rows in pieces; ``rows`` are there to learn from."""
    plain = Features.plain(pieces[0].shape[1], rows)
    long = [piece for piece in pieces if len(piece) > plain.reach]
    mixed = Features(plain.channels, plain.lags, find_products(long, plain))
    if not mixed.pairs or mixed.count * ROWS_PER_FEATURE > rows:
        mixed = plain
    parts = np.array_split(np.concatenate([mixed.of(piece) for piece in long]), 5)
    mean = np.concatenate(parts).mean(axis=0)
    moments = [(part - mean).T @ (part - mean) for part in parts]
    best, chosen = np.inf, Choice(plain, PENALTIES[-1])
    for features in dict.fromkeys((plain, mixed)):
        for penalty in PENALTIES:
            error = _error(moments, [len(part) for part in parts], features, penalty)
            if error < best:
                best, chosen = error, Choice(features, penalty)
    return chosen


def _error(moments: list[Array], sizes: list[int], features: Features, penalty: float) -> float:
    """Return the mean logarithm of the squared errors on the first and the last part."""
    count, errors = features.count, []
    own = [part[:count, :count] for part in moments]
    total = np.sum(own, axis=0)
    for i in (0, len(own) - 1):
        rest = (total - own[i]) / max(sum(sizes) - sizes[i], 1)
        found = residual_map(rest, features, penalty=penalty)
        errors.append(np.einsum("ij,ij->j", found, own[i] @ found) / max(sizes[i], 1))
    return float(np.log(np.maximum(errors, LEAST_ERROR**2)).mean())


def find_products(pieces: Sequence[Array], plain: Features) -> tuple[tuple[int, int], ...]:
    """Return the pairs of channels whose products go with what is left of some channel."""
    channels = plain.channels
    if channels > MOST_CHANNELS or not pieces:
        return ()
    rows = np.concatenate([plain.of(piece) for piece in pieces])
    rows = rows[:: max(1, len(rows) // SCREENED_ROWS)]
    rows = rows - rows.mean(axis=0)
    now = np.concatenate([piece[plain.reach :] for piece in pieces])
    now = now[:: max(1, len(now) // SCREENED_ROWS)]
    left = rows @ residual_map(rows.T @ rows / len(rows), plain, penalty=PENALTIES[0])
    one, other = np.triu_indices(channels)
    products = multiply(now[:, one], now[:, other])
    related = np.abs(_unit(products).T @ _unit(left))
    index = np.arange(channels)
    related[(one[:, None] == index) | (other[:, None] == index)] = 0.0
    each = max(2, MOST_PRODUCTS // channels)
    chosen = set()
    for j in range(channels):
        best = np.argsort(-related[:, j], kind="stable")[:each]
        chosen |= {int(i) for i in best if related[i, j] > WORTH}
    return tuple((int(one[i]), int(other[i])) for i in sorted(chosen))


def _unit(values: Array) -> Array:
    """Return columns with mean 0 and length 1; constant ones are 0."""
    centred = values - values.mean(axis=0)
    size = np.sqrt(np.square(centred).sum(axis=0))
    return np.asarray(centred / np.where(size > 1e-9, size, np.inf))
