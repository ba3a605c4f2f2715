"""What an event is explained by: channels, kind, a sentence, courses, relations, counterfactual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KINDS = (
    "frozen", "shifted", "drifting", "noisy", "spiking", "wrong relation", "out of range",
    "unknown",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Course:
    """What a channel was and what it should have been, from row ``start`` on.

    In units of the input. ``expected`` comes from channels that are not to blame, and from the
    channel's own past before the event; ``low`` and ``high`` are left by one in twenty training
    rows that were held out. All three are NaN where they are not known.
    """

    channel: str
    start: int
    actual: Array
    expected: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class BrokenRelation:
    """A channel and the channels that no longer predict it.

    ``ratio`` is the error now divided by the error in held-out training rows. The arrays are a
    scatter plot: predicted and actual values in held-out training rows (at most 300) and now.
    """

    channel: str
    given: tuple[str, ...]
    ratio: float
    words: str
    then_predicted: Array
    then_actual: Array
    now_predicted: Array
    now_actual: Array


@dataclass(frozen=True)
class Counterfactual:
    """Whether the event vanishes if some channels are replaced by what they should have been.

    ``channels`` is the smallest set found for which it does, empty if it does for none.
    ``score_before`` is the peak of the event, ``score_after`` the highest score in the same rows
    with the channels replaced; ``tried`` counts the sets that were scored.
    """

    channels: tuple[str, ...]
    vanishes: bool
    score_before: float
    score_after: float
    tried: int


@dataclass(frozen=True, eq=False)
class Why:
    """The explanation of an event.

    ``channels`` are those to blame, most to blame first, at most four. ``rows`` are the first and
    the last bound of the rows in which they contradict the others.
    """

    channels: tuple[str, ...]
    kind: str
    sentence: str
    courses: tuple[Course, ...]
    relations: tuple[BrokenRelation, ...]
    counterfactual: Counterfactual
    rows: tuple[int, int] = (0, 0)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values; a value that is not finite is null."""
        return {
            "channels": list(self.channels),
            "kind": self.kind,
            "sentence": self.sentence,
            "rows": list(self.rows),
            "courses": [_entries(course) for course in self.courses],
            "relations": [_entries(relation) for relation in self.relations],
            "counterfactual": _entries(self.counterfactual),
        }


def _entries(found: object) -> dict[str, Any]:
    return {name: _plain(value) for name, value in vars(found).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [float(each) if np.isfinite(each) else None for each in value]
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
