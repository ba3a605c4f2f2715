"""The values of chunks as a detector sees them: its channels in their order, context watched."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from axonad.data.context import usable_rows
from axonad.data.frames import Matrix, match_channels, to_matrix
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import DataWarning


def matched(detector: Detector, series: Series) -> Matrix:
    """Return the values of a series with the channels of training, in their order."""
    values, names = to_matrix(series)
    expected, count = detector.channel_names, detector.n_features_in_
    return match_channels(values, names, expected=expected, count=count)


def watched(detector: Detector, chunks: Iterable[Series]) -> Iterator[Series]:
    """Yield the chunks; after the last, warn of context that training has not seen."""
    watch, name = detector.watch_context(detector.channel_names), ""
    for chunk in chunks:
        name = chunk.name
        if watch is not None:
            watch.add(usable_rows(chunk, matched(detector, chunk)))
        yield chunk
    for new in () if watch is None else watch.found:
        warnings.warn(f"{name}: {new}", DataWarning, stacklevel=4)
