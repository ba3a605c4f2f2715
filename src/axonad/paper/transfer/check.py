"""The label-free transfer check: whether one data set is an outlier among others.

Settings chosen on one collection of data sets can be hoped to serve another data set if that one,
seen without labels, could have been one of the collection. Each data set is a point of summary
features (``data/features.py``); every feature is z-scored over all data sets, and one that is the
same everywhere is dropped. Two distances are taken for every data set in turn:

*leave-one-out Mahalanobis*
    to the mean of the other data sets, under the covariance of the others. There are often fewer
    data sets than features, so that covariance is shrunk towards a multiple of the identity, by
    the oracle approximating rule (Chen et al. 2010, "Shrinkage algorithms for MMSE covariance
    estimation"), whose amount follows from the data and which stays invertible for two others.
*nearest neighbour*
    to the closest other data set, Euclidean.

A percentile is the share of the other data sets whose distance is smaller, times 100: 0 is the most
ordinary of all, 100 the strangest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ConfigError, InputError, UnknownNameError, suggest
from axonad.paper.transfer.features import GROUPS, summarise

Array = NDArray[np.float64]
UNITS = ("dataset", "series")
SAME = 1e-9  # of a feature's magnitude (or of 1): a smaller deviation is rounding
RIDGE = 1e-6  # variance added where a feature has 1: others that agree exactly still have a width


class Segment(NamedTuple):
    """The training rows of one series, and the data set it belongs to."""

    dataset: str
    series: str
    values: Any


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one data set stands: its two distances, and its nearest neighbour."""

    name: str
    mahalanobis: float
    neighbour_distance: float
    nearest: str


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """How ordinary the target is among the others.

    Attributes
    ----------
    target
        The data set asked about.
    mahalanobis_percentile
        Share of the others with a smaller leave-one-out Mahalanobis distance, 0 to 100.
    neighbour_percentile
        Share of the others with a smaller distance to their nearest neighbour, 0 to 100.
    nearest
        The data set closest to the target.
    z
        The target's features in standard deviations from the mean of all data sets (itself
        included), the most unusual first.
    ranking
        Every data set, the strangest by Mahalanobis distance first.
    dropped
        Features that are the same in all data sets, and so say nothing.
    """

    target: str
    mahalanobis_percentile: float
    neighbour_percentile: float
    nearest: str
    z: Mapping[str, float]
    ranking: tuple[Place, ...]
    dropped: tuple[str, ...] = ()


def check_transfer(features: Mapping[str, Mapping[str, float]], target: str) -> Transfer:
    """Return how ordinary ``target`` is among the data sets of ``features``.

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
        Place(
            name=name,
            mahalanobis=float(far[i]),
            neighbour_distance=float(near[i]),
            nearest=names[closest[i]],
        )
        for i, name in enumerate(names)
    ]
    index = names.index(target)
    kept = [column for column, is_kept in zip(columns, varies, strict=True) if is_kept]
    of_target = zip(kept, (float(value) for value in z[index]), strict=True)
    return Transfer(
        target=target,
        mahalanobis_percentile=percentile(far, index),
        neighbour_percentile=percentile(near, index),
        nearest=places[index].nearest,
        z=dict(sorted(of_target, key=lambda item: -abs(item[1]))),
        ranking=tuple(sorted(places, key=lambda place: -place.mahalanobis)),
        dropped=tuple(column for column in columns if column not in kept),
    )


def dataset_features(
    segments: Iterable[Segment | tuple[str, str, Any]],
    *,
    by: str = "dataset",
    groups: Sequence[str] = GROUPS,
) -> dict[str, dict[str, float]]:
    """Return the summary features of every data set, or of every series.

    Parameters
    ----------
    segments
        Training segments as (data set, series, values); may be a generator, one is held at a time.
    by
        ``"dataset"``: the mean over the series of a data set, named by the data set.
        ``"series"``: each series is an entry of its own, named by the series.
    groups
        Feature groups of ``axonad.paper.transfer.features``.
    """
    if by not in UNITS:
        raise ConfigError(f"by must be one of {', '.join(UNITS)}, got {by!r}")
    found: dict[str, list[dict[str, float]]] = {}
    for dataset, series, values in segments:
        name = dataset if by == "dataset" else series
        if by == "series" and name in found:
            raise InputError(f"series {name!r} appears more than once; rename one of them")
        found.setdefault(name, []).append(summarise(values, groups=groups))
    return {
        name: {key: float(np.mean([one[key] for one in several])) for key in several[0]}
        for name, several in found.items()
    }


def standardise(values: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return ``values`` (sets, features) z-scored per feature, and which features vary.

    A feature that is the same everywhere becomes 0.
    """
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
    # the share of the identity, 1 where the covariance already is a multiple of it
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
    """Return names, feature names and the array (sets, features), or refuse it by name."""
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
