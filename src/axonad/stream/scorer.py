"""Live scoring, written against the contract: it works with every causal detector.

What becomes of missing values is said in :mod:`axonad.stream.lane`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from axonad.config import check_int
from axonad.detector import Detector
from axonad.errors import StaleError
from axonad.stream.judge import Judge, StreamResult
from axonad.stream.rows import Row, RowReader
from axonad.stream.state import reading_state, write_state

KIND = "axonad-stream"
BLOCK = 2_048  # rows scored at a time by push_many


class StreamScorer:
    """Scores a live stream row by row, equal to batch scoring with ``align="end"``.

    Parameters
    ----------
    detector
        A fitted, causal detector. It is not changed, and many scorers may share it.
    hold_limit
        How many rows in a row a missing value may be replaced by the channel's last one.

    See Also
    --------
    FleetScorer : many streams at once.
    """

    def __init__(self, detector: Detector, *, hold_limit: int = 10) -> None:
        check_int("hold_limit", hold_limit, low=0)
        self._judge = Judge(detector)
        self.detector = detector
        self.hold_limit = hold_limit
        self._reader = RowReader(detector.channel_names, detector.n_features_in_)
        self._lane = self._judge.new_lane()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty where the detector was fitted without."""
        return self.detector.channel_names or ()

    @property
    def rows(self) -> int:
        """How many rows were taken or refused."""
        return self._lane.rows

    @property
    def scored(self) -> int:
        """How many scores were given."""
        return self._lane.scored

    @property
    def held(self) -> int:
        """How many missing values were replaced by the channel's last one."""
        return self._lane.held

    @property
    def refused(self) -> int:
        """How many rows were refused."""
        return self._lane.refused

    def push(self, row: Any) -> StreamResult | None:
        """Take one row; return its score, or None until a window is full.

        ``row`` is a sequence of values in channel order, or a mapping from channel names.
        """
        held = self._lane.take(self._reader.read(row), hold_limit=self.hold_limit)
        return self._judge.judge([self._lane], [held])[0] if self._lane.window.is_full else None

    def push_many(self, rows: Any) -> list[StreamResult | None]:
        """Take many rows at once; return what :meth:`push` would have, one entry per row.

        A refused row raises :class:`~axonad.errors.StaleError` after all rows before it were
        taken; the error's ``results`` and ``row`` say how far it came.
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
        """Forget the window and the values to hold, as after a gap; the counts stay."""
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
        self, filled: Row, names: list[tuple[str, ...]], *, refused: bool
    ) -> list[StreamResult | None]:
        """Score rows that follow the window, then move the window on."""
        lane, window = self._lane, self.detector.history
        first = lane.rows - len(filled) - int(refused)
        known = np.concatenate([lane.window.rows()[-(window - 1) :], filled])
        if window == 1:
            known = filled
        complete = max(0, len(known) - window + 1)
        results: list[StreamResult | None] = [None] * (len(filled) - complete)
        if complete:
            scores, components = self.detector.score_ends(known)
            for i in range(complete):
                row = len(filled) - complete + i
                results.append(
                    self._judge.result(lane, first + row, scores, components, i, names[row])
                )
        lane.window.extend(filled)
        return results
