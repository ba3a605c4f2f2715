"""Scores of one live stream, with any causal detector.

The handling of missing values is described in :mod:`axonad.stream.lane`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from axonad.config import check_int
from axonad.data.holding import HOLD_LIMIT
from axonad.detector import Detector
from axonad.errors import StaleError
from axonad.stream.lane import Held
from axonad.stream.rows import Row, RowReader
from axonad.stream.state import reading_state, write_state
from axonad.stream.window_scorer import StreamResult, WindowScorer

KIND = "axonad-stream"
BLOCK = 2_048  # rows scored at a time by push_many


class StreamScorer:
    """Scores a live stream row by row, like batch scoring with ``align="end"``.

    The tolerance is stated in :mod:`axonad.stream`.

    Parameters
    ----------
    detector
        A fitted, causal detector. It is not modified, and many scorers may share it.
    hold_limit
        Maximum number of consecutive rows in which a channel's last value replaces a missing one.

    See Also
    --------
    FleetScorer : many streams at once.
    """

    def __init__(self, detector: Detector, *, hold_limit: int = HOLD_LIMIT) -> None:
        check_int("hold_limit", hold_limit, low=0)
        self._scorer = WindowScorer(detector)
        self.detector = detector
        self.hold_limit = hold_limit
        self._reader = RowReader(detector.channel_names, detector.n_features_in_)
        self._lane = self._scorer.new_lane()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty if the detector was fitted without names."""
        return self.detector.channel_names or ()

    @property
    def rows(self) -> int:
        """Number of rows pushed, refused ones included."""
        return self._lane.rows

    @property
    def scored(self) -> int:
        """Number of scores returned."""
        return self._lane.scored

    @property
    def held(self) -> int:
        """Number of missing values replaced by the channel's last one."""
        return self._lane.held

    @property
    def refused(self) -> int:
        """Number of rows refused."""
        return self._lane.refused

    def push(self, row: Any) -> StreamResult | None:
        """Append one row; return its score, or None until the window is full.

        ``row`` is a sequence of values in channel order, or a mapping from channel names.
        """
        held = self._lane.push(self._reader.read(row), hold_limit=self.hold_limit)
        return self._scorer.score([self._lane], [held])[0] if self._lane.window.is_full else None

    def push_many(self, rows: Any) -> list[StreamResult | None]:
        """Append many rows at once; return what :meth:`push` would return for each.

        At the first refused row it raises :class:`~axonad.errors.StaleError`, whose ``results``
        are those of the rows before and whose ``row`` is the index of the refused one.
        """
        matrix = self._reader.read_many(rows)
        results: list[StreamResult | None] = []
        for start in range(0, len(matrix), BLOCK):
            block = matrix[start : start + BLOCK]
            filled, names, stale = self._lane.fill_block(block, hold_limit=self.hold_limit)
            results += self._score_block(filled, names, refused=stale is not None)
            if stale is not None:
                self._lane.reset()
                raise StaleError(str(stale), results=results, row=len(results))
        return results

    def reset(self) -> None:
        """Clear the window and the values to hold, as after a gap; the counts stay."""
        self._lane.reset()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the stream's state to one JSON file; :meth:`restore` continues from it."""
        write_state(
            path, self._lane.state(), kind=KIND, detector=self.detector,
            hold_limit=self.hold_limit, overwrite=overwrite,
        )  # fmt: skip

    @classmethod
    def restore(cls, path: str | Path, detector: Detector) -> Self:
        """Return a scorer that continues where the saved one stopped, with the same scores."""
        scorer = cls(detector)
        with reading_state(path, kind=KIND, detector=detector) as (document, hold_limit):
            scorer.hold_limit = hold_limit
            scorer._lane.restore(document)
        return scorer

    def _score_block(
        self, filled: Row, names: list[Held], *, refused: bool
    ) -> list[StreamResult | None]:
        """Return the results of rows that follow the window, then append them to it."""
        lane, window, known = self._lane, self.detector.history, filled
        if window > 1:
            known = np.concatenate([lane.window.rows()[-(window - 1) :], filled])
        complete = max(0, len(known) - window + 1)
        results: list[StreamResult | None] = [None] * (len(filled) - complete)
        if complete:
            scored, end = self.detector.score_ends(known), lane.rows - int(refused)
            lanes, steps = [lane] * complete, range(end - complete, end)
            results += self._scorer.results(scored, lanes, steps, names[-complete:])
        lane.window.extend(filled)
        return results
