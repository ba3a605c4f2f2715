"""The result of ``Detector.explain``: scores with their parts, alarms and events."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import AlarmEvent
from axonad.alarms.finder import EventFinder
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import without_lead
from axonad.config import check_int
from axonad.data.frames import Names
from axonad.errors import ConfigError, DataWarning
from axonad.explain import Scene, explain_event
from axonad.explain.expected import expect_all
from axonad.explain.reference import require_reference
from axonad.stretches import cuts_of, stretches_of
from axonad.threshold import Event

if TYPE_CHECKING:
    from axonad.detector import Detector

AnyEvent = TypeVar("AnyEvent", bound=Event)


@dataclass(frozen=True)
class Explanation:
    """Scores of a series, what they are composed of, and the alarms and events they give.

    ``components`` are the parts of the score by name, one value per step each; ``blame``
    (time, channels) is the score of each channel, None if the detector has no channel scores. It is
    -inf where a channel that never moved in training did not move either: see
    :mod:`axonad.score.blame`. ``cuts`` are the steps at which a gap in time or in the usable rows
    begins or ends; no event spans one. A step without a score has NaN. The first ``lead`` steps of
    all, and after each cut, have the score of a window that ends after them. ``at_end`` says
    whether the other steps have that of the window that ends there, as on a stream.
    """

    scores: NDArray[np.float64]
    components: dict[str, NDArray[np.float64]]
    blame: NDArray[np.float64] | None
    threshold: float
    names: Names
    cuts: tuple[int, ...] = ()
    lead: int = 0
    at_end: bool = True
    scene: Callable[[], Scene] | None = field(default=None, compare=False, repr=False)

    @property
    def alarms(self) -> NDArray[np.bool_]:
        """Whether each step scores above the threshold."""
        return self.scores > self.threshold

    def events(self, *, gap: int = 0, top: int = 4) -> list[Event]:
        """Return runs of alarms as events, one for those at most ``gap`` steps apart."""
        check_int("gap", gap, low=0)
        policy = AlarmPolicy(start=self.threshold, merge_gap=gap)
        return [event.plain for event in self._found(policy, self.scores, top=top)]

    def alarm_events(self, policy: AlarmPolicy, *, top: int = 4) -> list[AlarmEvent]:
        """Return the events of an alarm policy; see :mod:`axonad.alarms.machine`.

        They are those a stream would have: the first ``lead`` steps count as unscored, and scores
        that are not placed at the end of windows are refused.
        """
        if not self.at_end:
            raise ConfigError(
                "alarms are judged at the end of windows and these scores are placed elsewhere; "
                "use detector.events(X, policy=...), or explain with align='end'"
            )
        scores = without_lead(self.scores, lead=self.lead, cuts=self.cuts)
        return self._found(policy, scores, top=top)

    def _found(
        self, policy: AlarmPolicy, scores: NDArray[np.float64], *, top: int
    ) -> list[AlarmEvent]:
        check_int("top", top, low=0)
        finder = EventFinder(policy, names=self.names, top=top)
        attribution = None if self.blame is None else self.blame.__getitem__
        changes = finder.add(scores, attribution=attribution, cuts=self.cuts) + finder.finish()
        return [change.event for change in changes if change.what == "final"]

    def explained(
        self, events: Iterable[AnyEvent], *, threshold: float | None = None
    ) -> list[AnyEvent]:
        """Return the events with ``why``: which channels, what was expected, what kind of fault.

        An event counts as gone if its scores stay below ``threshold``, by default that of the
        detector.
        """
        listed = list(events)
        if not listed:
            return []
        if self.scene is None:
            raise ConfigError("this part of a series has no rows to explain events by")
        scene = self.scene()
        if threshold is not None:
            scene = replace(scene, threshold=threshold)
        return [replace(event, why=explain_event(scene, event)) for event in listed]

    def expected(self, events: Iterable[Event] = ()) -> NDArray[np.float64]:
        """Return what each channel should have been by the others (time, channels).

        In the rows of events that are explained, the channels to blame are no input. NaN in the
        first rows of each stretch, and for channels that only set the scene.
        """
        if self.scene is None:
            raise ConfigError("this part of a series has no rows to expect channels from")
        return expected_courses(self.scene(), events)


def expected_courses(scene: Scene, events: Iterable[Event] = ()) -> NDArray[np.float64]:
    """Return the expected course of each channel; see :meth:`Explanation.expected`."""
    relations, values = scene.reference.relations, scene.values
    edges = [0, *scene.cuts, len(values)]
    parts = [expect_all(relations, values[a:b]) for a, b in pairwise(edges) if b > a]
    result = np.concatenate(parts)
    for event in events:
        if event.why is None or not event.why.channels:
            continue
        blamed = tuple(sorted(scene.labels.index(name) for name in event.why.channels))
        (start, stop), reach = event.why.rows, relations.features.reach
        place = bisect_right(edges, start)
        first = max(edges[place - 1], start - reach)
        stop = min(stop + reach, edges[place])  # so long rows of the fault are an input
        again = expect_all(relations, values[first:stop], blamed=blamed)[start - first :]
        result[start:stop] = np.where(np.isnan(again), result[start:stop], again)
    result[:, list(scene.reference.context)] = np.nan
    return result


def scene_of(detector: Detector, X: Any, cuts: tuple[int, ...] | None = None) -> Scene:
    """Return a recording as explanations see it; raise ConfigError for a model that has none.

    ``cuts`` are those that scoring has found; None finds them again.
    """
    detector.check_fitted()
    reference = require_reference(detector.reference_, channels=detector.n_features_in_)
    X = detector.timed(X)
    values = detector.matched(X)
    if cuts is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # said when it was scored
            parts = stretches_of(
                X, window=detector.history, interval=detector.interval_, split=detector.is_causal
            )
        cuts = cuts_of(parts, len(values))
    return Scene(
        reference, detector.channel_names, values,
        detector.score_rows, detector.threshold_, detector.history,
        at_end=detector.scores_at_end, whole=not detector.is_causal, cuts=cuts,
    )  # fmt: skip
