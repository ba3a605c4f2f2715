"""Explain events: which channels, since when, and what they should have been."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.explain.broken import find_broken
from axonad.explain.counterfactual import Replaced, find_counterfactual
from axonad.explain.culprits import Blamed, Search, find_rows
from axonad.explain.expected import Expected, expect
from axonad.explain.kinds import Trace, name_kind
from axonad.explain.relations import Prediction, Relations, power_before
from axonad.explain.scene import Scene, View
from axonad.explain.sentences import write_sentence
from axonad.explain.why import BrokenRelation, Counterfactual, Course, Why
from axonad.threshold import Event

if TYPE_CHECKING:
    from axonad.detector import Detector

Array = NDArray[np.float64]

LISTED = 4  # channels
CLEAR = 0.5  # share of a channel that others explain, from which it tells the rows of a fault
SHOWN = 50  # rows before and after the fault in courses, at least


def explain_events(detector: Detector, X: Any, events: Iterable[Event]) -> list[Why]:
    """Return the explanation of each event that a fitted detector has found in ``X``."""
    scene = detector.scene(X)
    return [explain_event(scene, event) for event in events]


def explain_event(scene: Scene, event: Event) -> Why:
    """Return the explanation of an event of a scene."""
    return _Case(scene, event).explain()


def score_with(scene: Scene, event: Event, channels: Sequence[str]) -> float:
    """Return the highest score of an event if these channels had been as expected throughout."""
    case = _Case(scene, event)
    case.fault = case._first_rows()
    chosen = tuple(scene.labels.index(name) for name in channels)
    near = case.view.concerned
    where = slice(max(case.reach, min(case.fault[0], near.start)), max(case.fault[1], near.stop))
    return scene.peak(case.view, case._replaced(chosen, chosen, where)[1])


class _Case:
    """One event while it is explained."""

    def __init__(self, scene: Scene, event: Event) -> None:
        self.scene, self.event = scene, event
        self.view: View = scene.view(event)
        self.relations: Relations = scene.reference.relations
        self.features = self.relations.features_of(self.view.rows)
        self.reach = len(self.view.rows) - len(self.features)
        self.labels = scene.labels
        self.hints = [self.labels.index(name) for name in event.channels if name in self.labels]
        self.predictions: dict[tuple[int, ...], Prediction] = {}

    def explain(self) -> Why:
        self.fault = self._first_rows()
        blamed = self._blame()
        ranked = blamed.channels or tuple(self.hints[:1])
        if ranked:
            self.fault = self._refine(ranked)
        found = self._ask_detector(ranked, blamed)
        chosen = tuple(self.labels.index(name) for name in found.channels)
        ranked = (*chosen, *(j for j in ranked if j not in chosen))[:LISTED]
        traces = self._traces(ranked) if ranked else []
        kind = name_kind(traces) if blamed.channels or found.vanishes else "unknown"
        relations = self._broken(ranked)
        courses = self._courses(ranked, relations)
        names = tuple(self.labels[j] for j in ranked)
        shown = courses[0] if courses else None
        start = self.scene.first + self.view.left
        first, stop = self.fault
        rows = slice(0, 0) if shown is None else _within(shown, start + first, start + stop)
        sentence = write_sentence(
            names, kind, shown, rows, relations[0] if relations else None, found
        )
        return Why(
            self._listed(names, blamed, found), kind, sentence, courses, relations, found,
            (start + first, start + stop),
        )  # fmt: skip

    # -- rows and channels -------------------------------------------------------------------

    def _first_rows(self) -> tuple[int, int]:
        """Return the rows around the event in which channels contradict each other."""
        found = self.relations.contradictions(self.features, self._before())
        rows = find_rows(found, self._near())
        if rows is None:
            return self._fallback()
        return self.reach + rows[0], self.reach + rows[1]

    def _near(self) -> slice:
        """Return the rows of the features that concern the event."""
        concerned = self.view.concerned
        return slice(max(0, concerned.start - self.reach), max(0, concerned.stop - self.reach))

    def _fallback(self) -> tuple[int, int]:
        stop = max(self.view.event.stop, self.reach + 1)
        return max(self.view.event.start, self.reach), min(stop, len(self.view.rows))

    def _blame(self) -> Blamed:
        first, stop = self.fault
        rows = self.features[first - self.reach : stop - self.reach]
        never = self.scene.reference.context
        search = Search(self.relations, rows, before=self._before(), never=never)
        return search.run(self.hints)

    def _before(self) -> Array:
        """Return rows before those that concern the event, one in four."""
        return self.features[: self._near().start : 4]

    def _refine(self, ranked: tuple[int, ...]) -> tuple[int, int]:
        """Return the rows in which the blamed channels are not as expected."""
        prediction = self._predict(ranked)
        expected = self._expect(prediction)
        half = (expected.high - expected.low) / 2
        deviation = self.view.rows[:, list(prediction.targets)] - expected.value
        ratios = np.nan_to_num(np.square(deviation / np.maximum(half, 1e-300)))
        clear = prediction.explained > CLEAR
        ratios = (ratios[:, clear] if clear.any() else ratios).max(axis=1)[self.reach :]
        usual = power_before(np.eye(1), np.sqrt(ratios[: self._near().start : 4, None]))
        rows = find_rows(ratios / max(1.0, float(usual[0])), self._near())
        return self.fault if rows is None else (self.reach + rows[0], self.reach + rows[1])

    def _listed(
        self, names: tuple[str, ...], blamed: Blamed, found: Counterfactual
    ) -> tuple[str, ...]:
        """Return the channels to list: more than those to blame where there is doubt."""
        if found.vanishes and names:
            return names
        more = [self.labels[j] for j in (*blamed.channels, *self.hints, *blamed.others)]
        return tuple(dict.fromkeys((*names, *more)))[: max(3, len(names))]

    # -- expectation -------------------------------------------------------------------------

    def _predict(self, targets: tuple[int, ...]) -> Prediction:
        key = tuple(sorted(targets))
        if key not in self.predictions:
            self.predictions[key] = self.relations.predict(key)
        return self.predictions[key]

    def _expect(self, prediction: Prediction) -> Expected:
        return expect(self.relations, self.view.rows, prediction, first=self.fault[0])

    def _traces(self, ranked: tuple[int, ...]) -> list[Trace]:
        prediction = self._predict(ranked)
        expected = self._expect(prediction).value
        reference, (first, stop) = self.scene.reference, self.fault
        made = []
        for i, j in enumerate(prediction.targets):
            unit = reference.scaler.unit[j]
            made.append(
                Trace(
                    self.view.rows[first:stop, j] / unit, expected[first:stop, i] / unit,
                    float(prediction.size[i]), float(prediction.step[i]),
                    reference.low[j] / unit, reference.high[j] / unit, reference.longest_run(j),
                )
            )  # fmt: skip
        return made

    def _broken(self, ranked: tuple[int, ...]) -> tuple[BrokenRelation, ...]:
        first, stop = self.fault
        rows = self.features[max(0, first - self.reach) : max(1, stop - self.reach)]
        suspects = (*ranked, *self.scene.reference.context)
        found = [find_broken(self.relations, rows, j, suspects, self.labels) for j in ranked]
        known = [relation for relation in found if relation is not None]
        return tuple(known[:1] + sorted(known[1:], key=lambda relation: -relation.ratio))

    def _courses(
        self, ranked: tuple[int, ...], relations: Sequence[BrokenRelation]
    ) -> tuple[Course, ...]:
        """Return the courses of the blamed channels and of those they are predicted from."""
        if not ranked:
            return ()
        first, stop = self.fault
        around = max(SHOWN, (stop - first) // 2)
        low = max(0, min(first, self.view.event.start) - around)
        high = min(len(self.view.rows), max(stop, self.view.event.stop) + around)
        made = {}
        blamed = self._predict(ranked)
        for j in ranked:
            made[j] = self._course(self._expect(blamed), blamed.targets.index(j), j, low, high)
        free = tuple(j for j in range(len(self.labels)) if j not in ranked)
        for name in dict.fromkeys(name for found in relations for name in found.given):
            j = self.labels.index(name)
            if j not in made:
                prediction = self.relations.predict((j,), free)
                made[j] = self._course(self._expect(prediction), 0, j, low, high)
        return tuple(made.values())

    def _course(self, expected: Expected, i: int, j: int, low: int, high: int) -> Course:
        value, below, above = (array[low:high, i] for array in expected)
        start = self.scene.first + self.view.left + low
        return Course(self.labels[j], start, self.view.rows[low:high, j], value, below, above)

    # -- counterfactual ----------------------------------------------------------------------

    def _ask_detector(self, ranked: tuple[int, ...], blamed: Blamed) -> Counterfactual:
        return find_counterfactual(
            self._candidates(ranked, blamed),
            lambda rows: self.scene.peak(self.view, rows),
            threshold=self.scene.threshold, before=self.event.score, names=self.labels,
        )  # fmt: skip

    def _candidates(self, ranked: tuple[int, ...], blamed: Blamed) -> Iterator[Replaced]:
        """Yield sets of channels, smallest first, with the rows in which they are as expected."""
        first, stop = self.fault
        margin = 10 + (stop - first) // 4
        narrow = slice(max(first - margin, self.reach), stop + margin)
        near = self.view.concerned
        wide = slice(max(self.reach, min(first, near.start)), max(stop, near.stop) + margin)
        for size in range(1, len(ranked) + 1):
            yield self._replaced(ranked[:size], ranked, narrow)
        if ranked:
            yield self._replaced(ranked, ranked, wide)
        others = list(dict.fromkeys((*self.hints, *blamed.others)))
        others = [j for j in others if j not in ranked]
        for more in range(1, LISTED):
            wider = (*ranked, *others[:more])
            if others[more - 1 :] and len(wider) <= LISTED:
                yield self._replaced(wider, wider, wide)

    def _replaced(
        self, channels: tuple[int, ...], suspects: tuple[int, ...], where: slice
    ) -> Replaced:
        prediction = self._predict(suspects)
        expected = self._expect(prediction).value
        columns = [prediction.targets.index(j) for j in channels]
        rows = self.view.rows.copy()
        rows[where, list(channels)] = expected[where][:, columns]
        return channels, rows


def _within(course: Course, start: int, stop: int) -> slice:
    return slice(max(0, start - course.start), max(0, stop - course.start))
