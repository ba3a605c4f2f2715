"""Scores of live streams, row by row, and of long series, chunk by chunk.

``StreamScorer.push`` and ``FleetScorer.push`` return the score that ``decision_function`` with
``align="end"`` gives the same row. They compute it in another order, so it may differ in rounding:
by at most 1e-4 * max(1, |score|). A float32 network rounds at about 1e-7 of a value, and
standardisation divides by the interquartile range of the training windows, which may be a small
part of that value.
"""

from axonad.stream.fleet import FleetScorer
from axonad.stream.scorer import StreamScorer
from axonad.stream.window_scorer import StreamResult

__all__ = ["FleetScorer", "StreamResult", "StreamScorer"]
