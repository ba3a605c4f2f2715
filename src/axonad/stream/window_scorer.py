"""Scores of the full windows of live streams.

A detector with ``LiveWindows`` receives each row once and scores the windows of all streams in one
pass; any other detector scores one window after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.scored import placed_at_end
from axonad.config import check_int
from axonad.detector import Detector
from axonad.errors import ConfigError, DivergedError
from axonad.explain import Why
from axonad.live_windows import LiveWindows, Scored
from axonad.stream.lane import Held, Lane
from axonad.stretches import finite_scores
from axonad.threshold import Event


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The score of one live row."""

    step: int
    score: float
    alarm: bool
    components: dict[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()


class WindowScorer:
    """Scores the windows of lanes with one fitted, causal detector."""

    def __init__(self, detector: Detector, *, keep: int = 0) -> None:
        check_int("keep", keep, low=0)
        self._keep = keep
        given: object = detector
        if not isinstance(given, Detector):
            hint = "; load a saved one with axonad.load(path)"
            raise ConfigError(f"detector must be a fitted detector, got {given!r}{hint}")
        detector.check_causal("run live")
        self.detector = detector
        self._live: LiveWindows | None = None
        self._slots: dict[Lane, int] = {}
        self._free: list[int] = []
        self._loaded: dict[Lane, int] = {}  # number of rows of a lane that reached its slot

    def new_lane(self) -> Lane:
        """Return the state of a new stream."""
        detector = self.detector
        return Lane(
            detector.channel_names, channels=detector.n_features_in_, window=detector.history,
            keep=self._keep,
        )  # fmt: skip

    def score(self, lanes: Sequence[Lane], held: Sequence[Held]) -> list[StreamResult]:
        """Return the result of the last row of each lane; their windows must be full.

        Raise :class:`~axonad.errors.DivergedError` if a score is NaN or infinite.
        """
        steps = [lane.rows - 1 for lane in lanes]
        return self.results(self._score_windows(lanes), lanes, steps, held)

    def score_each(
        self, lanes: Sequence[Lane], held: Sequence[Held]
    ) -> list[StreamResult | DivergedError]:
        """Return what :meth:`score` does, with an error for each lane that has no finite score.

        All other lanes get the results that they would have without it.
        """
        try:
            return list(self.score(lanes, held))
        except DivergedError:
            errors = [self._error_of(lane) for lane in lanes]
        good = [i for i, error in enumerate(errors) if error is None]
        results = self.score([lanes[i] for i in good], [held[i] for i in good]) if good else []
        found = dict(zip(good, results, strict=True))
        return [found[i] if error is None else error for i, error in enumerate(errors)]

    def results(
        self, scored: Scored, lanes: Sequence[Lane], steps: Sequence[int], held: Sequence[Held]
    ) -> list[StreamResult]:
        """Return scores as results, one for each lane and step, and count them."""
        scores, components = scored
        results = []
        for i, (lane, step, names) in enumerate(zip(lanes, steps, held, strict=True)):
            lane.scored += 1
            score = float(scores[i])
            parts = {name: float(values[i]) for name, values in components.items()}
            alarm = score > self.detector.threshold_
            results.append(StreamResult(step, score, alarm, parts, names))
        return results

    def blame(self, lane: Lane) -> NDArray[np.float64] | None:
        """Return a value per channel for the lane's full window, None if there are none."""
        return self.blame_of(lane.window.rows())

    def blame_of(self, window: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a value per channel for the rows of a full window, None if there are none."""
        found = placed_at_end(self.detector).explain(self.detector.in_context(window)).blame
        return None if found is None else found[-1]

    def explain(self, lane: Lane, event: Event) -> Why:
        """Return why an event of a lane was raised; raise ConfigError if no rows are kept."""
        if lane.kept is None:
            raise ConfigError(
                "the scorer keeps no rows to explain events by; create it with keep=2000, say"
            )
        return lane.kept.explain(self.detector, event)

    def remove(self, lane: Lane) -> None:
        """Free the lane's slot for another lane."""
        self._loaded.pop(lane, None)
        if lane in self._slots:
            self._free.append(self._slots.pop(lane))

    def _score_windows(self, lanes: Sequence[Lane]) -> Scored:
        live = self.detector.live_windows(self._live)
        if live is None:
            return self._score_one_by_one(lanes)
        if live is not self._live:  # first call, or the detector was refitted or moved
            self._live = live
            self._loaded.clear()
        slots = [self._slot(lane) for lane in lanes]
        appended = []
        for lane, slot in zip(lanes, slots, strict=True):
            loaded, total = self._loaded.get(lane), lane.window.total
            if loaded is not None and total == loaded + 1:
                appended.append((slot, self.detector.in_context(lane.window.rows()[-1:])))
            elif total != loaded:
                live.load(slot, self.detector.in_context(lane.window.rows()))
            self._loaded[lane] = total
        if appended:
            some, rows = zip(*appended, strict=True)
            live.append(some, np.concatenate(rows))
        scores, components = live.score(slots)
        return finite_scores(scores, of=self.detector), components

    def _error_of(self, lane: Lane) -> DivergedError | None:
        """Return why a lane's full window has no score; None if it has one."""
        try:
            self._score_windows([lane])
        except DivergedError as error:
            return error
        return None

    def _score_one_by_one(self, lanes: Sequence[Lane]) -> Scored:
        parts = [self.detector.score_ends(lane.window.rows()) for lane in lanes]
        names = parts[0][1]
        scores = np.concatenate([scores for scores, _ in parts])
        return scores, {name: np.concatenate([part[name] for _, part in parts]) for name in names}

    def _slot(self, lane: Lane) -> int:
        slot = self._slots.get(lane)
        if slot is None:
            slot = self._slots[lane] = self._free.pop() if self._free else len(self._slots)
        return slot
