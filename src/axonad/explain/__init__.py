"""Why an event was raised: expected courses, broken relations, a counterfactual, the kind.

:func:`explain_events` explains the events of any fitted detector; ``detector.events(X, why=True)``
does so while it finds them. No part of it knows a model: it needs the detector's scores and a
sample of its training rows (:mod:`axonad.explain.reference`).
"""

from axonad.explain.events import explain_event, explain_events, score_with
from axonad.explain.reference import Reference
from axonad.explain.scene import Scene
from axonad.explain.why import KINDS, BrokenRelation, Counterfactual, Course, Why

__all__ = [
    "KINDS", "BrokenRelation", "Counterfactual", "Course", "Reference", "Scene", "Why",
    "explain_event", "explain_events", "score_with",
]  # fmt: skip
