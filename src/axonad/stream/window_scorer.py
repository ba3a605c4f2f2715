"""Scores of the full windows of live streams.

A detector with ``LiveWindows`` receives each row once and scores the windows of all streams in one
pass; any other detector scores one window after another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.detector import Detector
from axonad.errors import DivergedError
from axonad.live_windows import LiveWindows, Scored
from axonad.stream.stream_state import StreamState
from axonad.stretches import finite_scores

Array = NDArray[np.float64]


class WindowScorer:
    """Scores the windows of streams with one fitted, causal detector."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._live: LiveWindows | None = None
        self._slots: dict[StreamState, int] = {}
        self._free: list[int] = []
        self._loaded: dict[StreamState, int] = {}  # number of rows of a stream in its slot

    def score(self, streams: Sequence[StreamState]) -> tuple[Scored, dict[int, str]]:
        """Return scores and parts of the last row of each stream; their windows must be full.

        Streams without a finite score have NaN, and a reason by their place; all others have the
        scores that they would have without them.
        """
        try:
            return self._score_windows(streams), {}
        except DivergedError:
            refused = {
                i: reason for i, one in enumerate(streams) if (reason := self._reason_of(one))
            }
        good = [i for i in range(len(streams)) if i not in refused]
        if not good:
            return (np.full(len(streams), np.nan), {}), refused
        scored = self._score_windows([streams[i] for i in good])
        scores, *parts = (_spread(values, good, len(streams)) for values in
                          (scored[0], *scored[1].values()))  # fmt: skip
        return (scores, dict(zip(scored[1], parts, strict=True))), refused

    def remove(self, stream: StreamState) -> None:
        """Free the slot of a stream for another one."""
        self._loaded.pop(stream, None)
        if stream in self._slots:
            self._free.append(self._slots.pop(stream))

    def _score_windows(self, streams: Sequence[StreamState]) -> Scored:
        live = self._detector.live_windows(self._live)
        if live is None:
            return self._score_one_by_one(streams)
        if live is not self._live:  # first call, or the detector was refitted or moved
            self._live = live
            self._loaded.clear()
        slots = [self._slot(stream) for stream in streams]
        appended = []
        for stream, slot in zip(streams, slots, strict=True):
            loaded, total = self._loaded.get(stream), stream.window.total
            if loaded is not None and total == loaded + 1:
                appended.append((slot, self._detector.in_context(stream.window.rows()[-1:])))
            elif total != loaded:
                live.load(slot, self._detector.in_context(stream.window.rows()))
            self._loaded[stream] = total
        if appended:
            some, rows = zip(*appended, strict=True)
            live.append(some, np.concatenate(rows))
        scores, parts = live.score(slots)
        return finite_scores(scores, of=self._detector), parts

    def _reason_of(self, stream: StreamState) -> str:
        """Return why a stream's full window has no score; empty if it has one."""
        try:
            self._score_windows([stream])
        except DivergedError as error:
            return str(error)
        return ""

    def _score_one_by_one(self, streams: Sequence[StreamState]) -> Scored:
        found = [self._detector.score_ends(stream.window.rows()) for stream in streams]
        names = found[0][1]
        scores = np.concatenate([scores for scores, _ in found])
        return scores, {name: np.concatenate([parts[name] for _, parts in found]) for name in names}

    def _slot(self, stream: StreamState) -> int:
        slot = self._slots.get(stream)
        if slot is None:
            slot = self._slots[stream] = self._free.pop() if self._free else len(self._slots)
        return slot


def _spread(values: Array, places: list[int], count: int) -> Array:
    """Return an array with the values at their places, NaN elsewhere."""
    found = np.full(count, np.nan)
    found[places] = values
    return found
