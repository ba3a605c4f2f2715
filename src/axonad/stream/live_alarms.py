"""The alarms of one live stream: its scores and its values, as a model's alarm setup judges them.

A row without a score, because the window fills or the row was refused, ends what is pending or
firing. A break in time also ends the events of bad data. The events of scores are those of
``Detector.events(X)``, up to the tolerance of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from axonad.alarms.event import Change
from axonad.alarms.machine import Attribution, Vehicle
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.stream.rows import Row
from axonad.stream.window_scorer import StreamResult


class LiveAlarms:
    """Follows one stream of a detector that has an alarm setup."""

    def __init__(self, detector: Detector, *, vehicle: Vehicle = None) -> None:
        if detector.alarm_setup_ is None:
            raise ConfigError(
                "the detector has no alarm policy; give it one with set_alarms, or on the command "
                "line with axonad recalibrate"
            )
        self.finder = detector.event_finder(vehicle=vehicle)
        self._changes: list[Change] = []

    @classmethod
    def of(cls, detector: Detector, *, vehicle: Vehicle = None) -> LiveAlarms | None:
        """Return the alarms of a new stream; None if the detector has no alarm setup."""
        return None if detector.alarm_setup_ is None else cls(detector, vehicle=vehicle)

    def add(
        self,
        values: Row,
        result: StreamResult | None,
        *,
        step: int,
        blame: Callable[[], Attribution],
        hold: int = 0,
        time: Any = None,
        is_cut: bool = False,
    ) -> None:
        """Add a row as it came, with NaN for missing values, and its result, if it has one.

        ``hold`` is the number of rows for which missing values are held, ``is_cut`` says that time
        breaks before the row.
        """
        self.finder.hold_for(hold)
        if step > self.finder.row:  # rows that could not be scored and raised an error
            self._changes += self.finder.skip(step - self.finder.row)
        self._changes += self.finder.add(
            [math.nan if result is None else result.score], raw=values[None],
            times=[plain_time(time)], cuts=(0,) if is_cut else (), attribution=lambda _: blame(),
        )  # fmt: skip

    def cut(self) -> None:
        """End all events, as where time breaks; a drift goes on."""
        self._changes += self.finder.cut()

    def take(self) -> list[Change]:
        """Return what has happened since the last call."""
        found, self._changes = self._changes, []
        return found

    def finish(self) -> None:
        """End the stream: all events are final."""
        self._changes += self.finder.finish()

    def restore(self, state: Mapping[str, Any] | None, *, rows: int) -> None:
        """Continue from a state; without one, as after so many rows without a score."""
        if state is None:
            self.finder.skip(rows)
        else:
            self.finder.restore(state)


def plain_time(time: Any) -> Any:
    """Return a time as JSON has it: a number, text, or None."""
    if time is None or type(time) is str:
        return time
    if type(time) is float:
        return time if math.isfinite(time) else None
    if isinstance(time, np.datetime64 | np.timedelta64):
        return str(time)
    if isinstance(time, np.generic):
        time = time.item()
    if isinstance(time, float) and not math.isfinite(time):
        return None
    return time if isinstance(time, int | float | str | None) else str(time)
