"""Why events of ``axonad stream`` were raised, from the last rows of the stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from axonad.alarms.event import ANOMALY, AlarmEvent
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.explain import Why
from axonad.explain.reference import require_reference
from axonad.explain.scene import AROUND, LONGEST
from axonad.stream import Session
from axonad.threshold import Event

REMEMBERED = 20  # events whose explanation is kept until they are final

AnyEvent = TypeVar("AnyEvent", bound=Event)


def rows_to_keep(detector: Detector) -> int:
    """Return how many rows explain an event; raise ConfigError for a model that cannot."""
    detector.check_fitted()
    require_reference(detector.reference_, channels=detector.n_features_in_)
    return LONGEST + 3 * detector.history + AROUND


class EventReasons:
    """Explains events when they fire and when they have ended.

    An event so long that its first rows are no longer kept has the explanation it had before.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[int, tuple[int, Why]] = {}  # first step → end then, explanation

    def explained(self, event: AnyEvent) -> AnyEvent:
        """Return the event with ``why``; those of bad data and drift say themselves why."""
        if isinstance(event, AlarmEvent) and event.kind != ANOMALY:
            return event
        end, why = self._known.get(event.start, (-1, None))
        if end == event.end:  # resolved before, and now final
            return replace(event, why=why)
        try:
            why = self._session.explain(event)
        except ConfigError:  # the first rows are no longer kept
            return replace(event, why=why)
        self._known[event.start] = event.end, why
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return replace(event, why=why)


def why_answer(event: Event) -> dict[str, Any]:
    """Return the short form of an explanation for a JSON line; nothing without one."""
    if event.why is None:
        return {}
    why = event.why
    return {
        "why": {
            "channels": list(why.channels), "kind": why.kind, "sentence": why.sentence,
            "vanishes": why.counterfactual.vanishes,
        }
    }  # fmt: skip
