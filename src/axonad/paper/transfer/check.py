"""The label-free transfer check: whether one data set is an outlier among others.

Settings chosen on a collection of data sets may transfer to another data set that, compared without
labels, could have been part of the collection. Each data set is a point in the space of summary
features (``transfer/features.py``). Features are z-scored over all data sets, and constant features
are dropped. Two distances are computed for every data set:

*leave-one-out Mahalanobis*
    to the mean of the other data sets under their covariance. There are often fewer data sets than
    features, so the covariance is shrunk towards a multiple of the identity by oracle approximating
    shrinkage (Chen et al. 2010, "Shrinkage algorithms for MMSE covariance estimation"), which stays
    invertible even for two data sets.
*nearest neighbour*
    Euclidean, to the closest other data set.

A percentile is the share of the other data sets with a smaller distance, times 100: 0 is the most
typical data set, 100 the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ConfigError, InputError, UnknownNameError, suggest
from axonad.paper.transfer.features import summary_features

Array = NDArray[np.float64]
UNITS = ("dataset", "series")
SAME = 1e-9  # a deviation below this share of a feature's magnitude (or of 1) is rounding
RIDGE = 1e-6  # added to the variances, which are 0 where all others are equal


class Segment(NamedTuple):
    """The training rows of one series, and the data set it belongs to."""

    dataset: str
    series: str
    values: Any


@dataclass(frozen=True, kw_only=True)
class Distances:
    """The two distances of one data set, and its nearest neighbour."""

    name: str
    mahalanobis: float
    neighbour_distance: float
    nearest: str


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """How typical the target is among the other data sets."""

    target: str
    mahalanobis_percentile: float  # share of the others with a smaller distance, 0 to 100
    neighbour_percentile: float  # the same by the distance to the nearest neighbour
    nearest: str  # the data set closest to the target
    z: Mapping[str, float]  # the target's z-scored features, the most unusual first
    ranking: tuple[Distances, ...]  # all data sets by Mahalanobis distance, the largest first
    dropped: tuple[str, ...] = ()  # features that are equal in all data sets


def check_transfer(features: Mapping[str, Mapping[str, float]], target: str) -> Transfer:
    """Return how typical ``target`` is among the data sets of ``features``.

    Examples
    --------
    >>> sets = {name: {"std": i, "lag_1": i % 2} for i, name in enumerate("abcde")}
    >>> found = check_transfer({**sets, "far": {"std": 90, "lag_1": 0}}, "far")
    >>> found.mahalanobis_percentile, found.neighbour_percentile, found.nearest
    (100.0, 100.0, 'e')
    """
    names, columns, values = _table(features)
    if target not in names:
        hint = suggest(target, names) or f"; expected one of {', '.join(names)}"
        raise UnknownNameError(f"no data set {target!r}{hint}")
    z, varies = standardise(values)
    if not varies.any():
        raise InputError(f"the {len(names)} data sets do not differ in any feature")
    z = z[:, varies]
    far, (near, closest) = leave_one_out_mahalanobis(z), nearest_neighbours(z)
    places = [
        Distances(name=name, mahalanobis=float(m), neighbour_distance=float(d), nearest=names[i])
        for name, m, d, i in zip(names, far, near, closest, strict=True)
    ]
    index = names.index(target)
    used = [column for column, is_used in zip(columns, varies, strict=True) if is_used]
    of_target = zip(used, z[index].tolist(), strict=True)
    return Transfer(
        target=target,
        mahalanobis_percentile=percentile(far, index),
        neighbour_percentile=percentile(near, index),
        nearest=places[index].nearest,
        z=dict(sorted(of_target, key=lambda item: -abs(item[1]))),
        ranking=tuple(sorted(places, key=lambda place: -place.mahalanobis)),
        dropped=tuple(column for column in columns if column not in used),
    )


def dataset_features(
    segments: Iterable[Segment | tuple[str, str, Any]], *, by: str = "dataset"
) -> dict[str, dict[str, float]]:
    """Return the summary features of every data set (the mean of its series) or of every series.

    ``segments`` are (data set, series, values), read one at a time; ``by`` is ``"dataset"`` or
    ``"series"``.
    """
    if by not in UNITS:
        raise ConfigError(f"by must be one of {', '.join(UNITS)}, got {by!r}")
    found: dict[str, list[dict[str, float]]] = {}
    for dataset, series, values in segments:
        name = dataset if by == "dataset" else series
        if by == "series" and name in found:
            raise InputError(f"series {name!r} appears more than once; rename one of them")
        found.setdefault(name, []).append(summary_features(values))
    return {name: mean_features(several) for name, several in found.items()}


def mean_features(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every feature."""
    return {name: float(np.mean([one[name] for one in several])) for name in several[0]}


def standardise(values: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return ``values`` (sets, features) z-scored per feature (0 if constant), and which vary."""
    std = values.std(axis=0)
    varies = std > SAME * np.maximum(np.abs(values).max(axis=0), 1.0)
    z = (values - values.mean(axis=0)) / np.where(varies, std, 1.0)
    return np.where(varies, z, 0.0), varies


def leave_one_out_mahalanobis(z: Array) -> Array:
    """Return each row's distance to the mean of the other rows under their shrunk covariance."""
    distances = np.empty(len(z))
    for i in range(len(z)):
        others = np.delete(z, i, axis=0)
        gap = z[i] - others.mean(axis=0)
        distances[i] = np.sqrt(gap @ np.linalg.solve(shrunk_covariance(others), gap))
    return distances


def shrunk_covariance(rows: Array) -> Array:
    """Return the covariance of ``rows`` shrunk towards the identity times their mean variance."""
    count, size = rows.shape
    centred = rows - rows.mean(axis=0)
    covariance: Array = centred.T @ centred / count
    squares, trace = float(np.square(covariance).sum()), float(np.trace(covariance))
    # weight of the identity, 1 if the covariance already is a multiple of it
    excess = (count + 1) * (squares - trace**2 / size)
    share = 1.0 if excess <= 0 else min(1.0, (squares + trace**2) / excess)
    shrunk: Array = (1 - share) * covariance + (share * trace / size + RIDGE) * np.eye(size)
    return shrunk


def nearest_neighbours(z: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return each row's Euclidean distance to the closest other row, and which row that is."""
    distances = np.linalg.norm(z[:, None, :] - z[None, :, :], axis=2)
    np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1), distances.argmin(axis=1)


def percentile(distances: Array, index: int) -> float:
    """Return the share of the other distances that are smaller than the one at ``index``, in %."""
    smaller = int((distances < distances[index]).sum())
    return 100.0 * smaller / (len(distances) - 1)


def _table(
    features: Mapping[str, Mapping[str, float]],
) -> tuple[list[str], list[str], Array]:
    """Return the data sets' names, the features' names and the array (sets, features), checked."""
    names = list(features)
    if len(names) < 3:
        raise InputError(f"a transfer check needs at least 3 data sets, got {len(names)}")
    columns = list(features[names[0]])
    for name in names:
        odd = sorted(set(columns) ^ set(features[name]))
        if odd:
            raise InputError(
                f"data sets {names[0]!r} and {name!r} must have the same features, "
                f"but only one of them has {', '.join(odd)}"
            )
    values = np.array([[features[name][column] for column in columns] for name in names], float)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"feature {columns[column]!r} of data set {names[row]!r} must be finite, "
            f"got {values[row, column]}"
        )
    return names, columns, values
