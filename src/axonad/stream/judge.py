"""Full windows of live streams → results.

A detector that offers ``LiveWindows`` is handed each row once and scores the
windows of all streams in one pass; any other one scores window after window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.live_windows import LiveWindows, Scored
from axonad.stream.lane import Lane
from axonad.stream.rows import Row


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The score of one live row."""

    step: int
    score: float
    alarm: bool
    components: dict[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()


class Judge:
    """Scores the windows of lanes with one fitted, causal detector."""

    def __init__(self, detector: Detector) -> None:
        given: object = detector
        if not isinstance(given, Detector):
            hint = "; load a saved one with axonad.load(path)"
            raise ConfigError(f"detector must be a fitted detector, got {given!r}{hint}")
        detector.check_causal("run live")
        self.detector = detector
        self._live: LiveWindows | None = None
        self._slots: dict[Lane, int] = {}
        self._free: list[int] = []
        self._known: dict[Lane, int] = {}  # rows of a lane that its slot has seen

    def new_lane(self) -> Lane:
        """Return the state of a stream that begins."""
        detector = self.detector
        return Lane(
            detector.channel_names, channels=detector.n_features_in_, window=detector.history
        )

    def judge(self, lanes: Sequence[Lane], held: Sequence[tuple[str, ...]]) -> list[StreamResult]:
        """Return the results of the last rows of lanes whose windows are full."""
        scores, components = self._score(lanes)
        return [
            self.result(lane, lane.rows - 1, scores, components, i, names)
            for i, (lane, names) in enumerate(zip(lanes, held, strict=True))
        ]

    def result(
        self,
        lane: Lane,
        step: int,
        scores: Row,
        components: Mapping[str, Row],
        index: int,
        held: tuple[str, ...],
    ) -> StreamResult:
        """Return one of many scores as a result, and count it."""
        score = float(scores[index])
        lane.scored += 1
        return StreamResult(
            step=step,
            score=score,
            alarm=score > self.detector.threshold_,
            components={name: float(values[index]) for name, values in components.items()},
            held=held,
        )

    def forget(self, lane: Lane) -> None:
        """Give the lane's slot to whoever comes next."""
        self._known.pop(lane, None)
        if lane in self._slots:
            self._free.append(self._slots.pop(lane))

    def _score(self, lanes: Sequence[Lane]) -> Scored:
        live = self.detector.live_windows(self._live)
        if live is None:
            return self._score_apart(lanes)
        if live is not self._live:  # the first one, or fitted anew, or on another device
            self._live = live
            self._known.clear()
        slots = [self._slot(lane) for lane in lanes]
        fresh = []
        for lane, slot in zip(lanes, slots, strict=True):
            new = lane.window.total - self._known.get(lane, -1)
            if lane in self._known and new == 1:
                fresh.append((slot, lane.window.rows()[-1:]))
            elif new:
                live.load(slot, lane.window.rows())
            self._known[lane] = lane.window.total
        if fresh:
            some, rows = zip(*fresh, strict=True)
            live.append(some, np.concatenate(rows))
        return live.score(slots)

    def _score_apart(self, lanes: Sequence[Lane]) -> Scored:
        parts = [self.detector.score_ends(lane.window.rows()) for lane in lanes]
        names = parts[0][1]
        scores = np.concatenate([scores for scores, _ in parts])
        return scores, {name: np.concatenate([part[name] for _, part in parts]) for name in names}

    def _slot(self, lane: Lane) -> int:
        slot = self._slots.get(lane)
        if slot is None:
            slot = self._slots[lane] = self._free.pop() if self._free else len(self._slots)
        return slot
