"""Scores and events of live streams, and scores of long series, chunk by chunk.

:class:`Fleet` and :class:`Session` return the score that ``decision_function`` with
``align="end"`` gives the same row, and chunks have the scores of the whole series, both within
1e-4 * max(1, |score|). They are not bit-identical, since matrices of other sizes are summed in
another order: a float32 network then rounds differently by about 1e-7 of a value, and
standardisation divides that by the interquartile range of the training windows, which may be much
smaller than the value.

Read ``fleet.py`` first: it takes rows, has a ``StreamState`` for each vehicle (``stream_state.py``)
and scores their windows together (``window_scorer.py``).
"""

from axonad.stream.fleet import Fleet, Session, step
from axonad.stream.step import Refused, Step

TOLERANCE = 1e-4
"""How far scores may differ from those of the whole series, relative to max(1, |score|)."""

__all__ = ["TOLERANCE", "Fleet", "Refused", "Session", "Step", "step"]
