"""The last rows of a live stream, kept so that its events can be explained.

They are the rows that were scored, with missing values held. An explanation looks at the rows of
the event and at most ``2 * history + 256`` rows before it (:mod:`axonad.explain.scene`); with so
many kept it is the one of a recording that ends at the last row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from axonad.alarms.scored import placed_at_end
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.explain import Scene, Why, explain_event
from axonad.explain.reference import require_reference
from axonad.modelfile import check_counts, check_rows
from axonad.stream.rows import Row
from axonad.threshold import Event


class KeptRows:
    """The last ``size`` rows of a stream, with their numbers and where a new stretch begins."""

    def __init__(self, size: int, channels: int) -> None:
        self._channels = channels
        self._rows: deque[tuple[int, bool, Row]] = deque(maxlen=size)
        self._begins = True

    def add(self, number: int, row: Row) -> None:
        """Add a row that was scored or fills the window."""
        begins = self._begins or (bool(self._rows) and self._rows[-1][0] != number - 1)
        self._rows.append((number, begins, np.array(row, dtype=np.float64)))
        self._begins = False

    def cut(self) -> None:
        """Begin a new stretch with the next row."""
        self._begins = True

    def explain(self, detector: Detector, event: Event) -> Why:
        """Return the explanation of an event; raise ConfigError if its first row is not kept."""
        reference = require_reference(detector.reference_, channels=detector.n_features_in_)
        first, values = self._stretch(event.start)
        aligned = placed_at_end(detector)
        scene = Scene(
            reference, detector.channel_names, values, aligned.score_rows, detector.threshold_,
            detector.history, first=first,
        )  # fmt: skip
        return explain_event(scene, event)

    def _stretch(self, wanted: int) -> tuple[int, Row]:
        """Return number of the first row, and the rows, of the stretch that has a row."""
        found: list[Row] = []
        first = last = -1
        for number, begins, row in self._rows:
            if begins:
                if last >= wanted:
                    break
                found = []
            if not found:
                first = number
            found.append(row)
            last = number
        if not found or not first <= wanted <= last:
            kept = f"from row {self._rows[0][0]} on" if self._rows else "no rows"
            raise ConfigError(
                f"the event begins at row {wanted} and the stream keeps {kept}; explain events "
                "sooner or create the scorer with a larger keep"
            )
        return first, np.array(found)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {
            "numbers": [number for number, _, _ in self._rows],
            "begins": [int(begins) for _, begins, _ in self._rows],
            "rows": [row.tolist() for _, _, row in self._rows],
            "next": int(self._begins),
        }

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        if state is None:
            return
        numbers = check_counts("kept numbers", state["numbers"])
        begins = check_counts("kept begins", state["begins"])
        rows = check_rows("kept rows", state["rows"], columns=self._channels)
        if not len(numbers) == len(begins) == len(rows) or numbers != sorted(set(numbers)):
            raise ValueError("its kept rows do not fit their numbers")
        self._rows.extend(
            (number, bool(begin), row)
            for number, begin, row in zip(numbers, begins, rows, strict=True)
        )
        self._begins = bool(state["next"])
