"""k-means, as KMeansAD and CBLOF use it."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from axonad.extras import need

Values = NDArray[np.float64]


def find_centers(
    windows: Values, *, clusters: int, seed: int, user: str
) -> tuple[Values, NDArray[np.int64]]:
    """Return the centres of the clusters that are not empty, and their sizes.

    ``windows`` is changed in its last digits: scikit-learn centres and restores it in place.
    """
    cluster = need("sklearn.cluster", what=f"{user} needs")
    clusters = min(clusters, len(windows))
    model = cluster.KMeans(n_clusters=clusters, random_state=seed, copy_x=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct windows than clusters: some stay empty
        model.fit(windows)
    sizes = np.bincount(model.labels_, minlength=len(model.cluster_centers_))
    used = sizes > 0
    return model.cluster_centers_[used].astype(np.float64), sizes[used].astype(np.int64)


def distances(windows: Values, centers: Values) -> Values:
    """Return the Euclidean distance of each window to each centre."""
    columns = [np.linalg.norm(windows - center, axis=1) for center in centers]
    return np.stack(columns, axis=1)
