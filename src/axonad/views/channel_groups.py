"""Groups of related channels, so that a linear view of many channels stays affordable.

Up to ``TOGETHER`` channels, or ``WHOLE`` values of a lagged row, each channel is predicted from all
others. The work grows with the cube of the channels; beyond, it is divided: ``GROUP`` related
channels are predicted from the same inputs, which are themselves, the channels that tell most about
them, and ``MIXTURES`` mixtures of all other channels; ``VALUES`` is about what all inputs have in a
lagged row. The work then grows in proportion to the channels, apart from the moments of all
channels, which are summed once.

How much one channel tells about another is measured by what the other channels of the same row
leave of both: the correlation of these residuals, the largest over the lags. At lag 0 this is the
partial correlation. Plain correlations would list a hundred channels that all follow one load
before the single one that tells what is special about a channel.

The mixtures are those that vary most with the group: the right singular vectors of the covariance
between the group and the channels that are no inputs. They carry what many channels tell a little
about each. Their coefficients have length 1, so that a ridge penalty means the same for them, and
a prediction from the inputs is one from all channels whose weights are restricted. No channel is
part of a mixture by which it is predicted.

Inputs are chosen on all training rows, held-out ones included; only weights are held out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from axonad.score.residual_map import residual_map
from axonad.views.lagged_map import Group, Indices, Inputs

Array = NDArray[np.float64]

TOGETHER = 128  # channels up to which each is predicted from all others,
WHOLE = 2_048  # or values of a lagged row, which allow more channels where lags are few
GROUP = 16  # most channels of a group
MIXTURES = 16  # mixtures that a group is predicted from
VALUES = 1_024  # inputs of a group, mixtures included, times the rows of a lagged row; about
PENALTY = 1e-6  # of the regression on the other channels of a row: a larger one hides differences
SMALLEST = 1e-12  # variance of a residual


def divide(moments: Array) -> tuple[Group, ...]:
    """Return the groups of channels with mean moments (lags + 1, channels, channels)."""
    channels = moments.shape[1]
    if channels <= max(TOGETHER, WHOLE // len(moments)):
        return (Group(np.arange(channels)),)
    inputs = max(VALUES // len(moments) - MIXTURES, 2 * GROUP)
    related = relate(moments)
    return tuple(_choose(own, related, moments[0], inputs) for own in _cluster(related))


def relate(moments: Array) -> Array:
    """Return how much each channel (columns) tells about each (rows) that the others do not."""
    alone = residual_map(moments[0], penalty=PENALTY)
    size, result = np.zeros(0), np.zeros(moments.shape[1:])
    for each in moments:
        left = alone.T @ each @ alone
        if not size.size:
            size = np.sqrt(np.maximum(np.diag(left), SMALLEST))
        result = np.maximum(result, np.abs(left) / size / size[:, None])
    np.fill_diagonal(result, 0.0)
    return result


def _cluster(related: Array) -> Iterator[Indices]:
    """Yield groups of about equal size: a channel related to many, and those closest to it."""
    close, left = related + related.T, np.arange(len(related))
    for more in range(math.ceil(len(close) / GROUP), 0, -1):
        size = math.ceil(len(left) / more)
        among = close[np.ix_(left, left)]
        first = int(among.sum(axis=0).argmax())
        among[first, first] = np.inf
        order = np.argsort(-among[first], kind="stable")
        yield np.sort(left[order[:size]])
        left = np.sort(left[order[size:]])


def _choose(targets: Indices, related: Array, now: Array, inputs: int) -> Group:
    """Return a group with its inputs: every channel of it adds its best in turn."""
    ranks = np.argsort(np.argsort(-related[targets], axis=1, kind="stable"), axis=1).min(axis=0)
    order = np.lexsort((-related[targets].max(axis=0), ranks))
    others = order[~np.isin(order, targets)]
    count = inputs - len(targets)
    rest = np.sort(others[count:])
    mixtures = np.zeros((len(now), MIXTURES))
    found = np.linalg.svd(now[np.ix_(targets, rest)], full_matrices=False)[2][:MIXTURES]
    mixtures[rest, : len(found)] = found.T
    return Group(targets, Inputs(np.concatenate([targets, others[:count]]), mixtures))
