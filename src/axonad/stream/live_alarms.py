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

from axonad.alarms.data_watch import DataWatch
from axonad.alarms.drift_marks import mark, watch_drift
from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.machine import AlarmMachine, Attribution, Vehicle
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.stream.rows import Row
from axonad.stream.window_scorer import StreamResult


class LiveAlarms:
    """Follows one stream of a detector that has an alarm setup."""

    def __init__(self, detector: Detector, *, vehicle: Vehicle = None) -> None:
        setup = detector.alarm_setup_
        if setup is None:
            raise ConfigError(
                "the detector has no alarm policy; give it one with set_alarms, or on the command "
                "line with axonad recalibrate"
            )
        self.machine = AlarmMachine(setup.policy, names=detector.channel_names, vehicle=vehicle)
        self.watch = None if setup.rules is None else DataWatch(setup.rules, vehicle=vehicle)
        self.drift = watch_drift(setup, names=detector.channel_names, vehicle=vehicle)
        self._changes: list[Change] = []

    @classmethod
    def of(cls, detector: Detector, *, vehicle: Vehicle = None) -> LiveAlarms | None:
        """Return the alarms of a new stream; None if the detector has no alarm setup."""
        return None if detector.alarm_setup_ is None else cls(detector, vehicle=vehicle)

    @property
    def is_firing(self) -> bool:
        """Whether an event of the score is firing."""
        return self.machine.is_firing

    @property
    def current(self) -> list[AlarmEvent]:
        """The events that are not final."""
        found = [] if self.machine.event is None else [self.machine.event]
        found += [] if self.watch is None else self.watch.events
        drift = None if self.drift is None else self.drift.event
        return found if drift is None else [*found, drift]

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
        moment = plain_time(time)
        if self.watch is not None:
            self.watch.hold_for(hold)
        if step > self.machine.row:  # rows that could not be scored and raised an error
            self._add(self.machine.skip(step - self.machine.row))
            if self.watch is not None:
                self._changes += self.watch.cut()
                self.watch.row = step
            if self.drift is not None:
                self.drift.cut()
                self.drift.row = step
        if is_cut:
            self.cut()
        if self.drift is not None:  # first, so that an event of this row says so
            score = math.nan if result is None else result.score
            self._changes += self.drift.push(values, score, time=moment)
        if result is None:
            self._add(self.machine.skip())
        else:
            self._add(self.machine.push(result.score, attribution=blame, time=moment))
        if self.watch is not None:
            self._changes += self.watch.push(values, time=moment)

    def cut(self) -> None:
        """End all events, as where time breaks; a drift goes on."""
        self._add(self.machine.cut())
        self._changes += [] if self.watch is None else self.watch.cut()
        if self.drift is not None:
            self.drift.cut()

    def take(self) -> list[Change]:
        """Return what has happened since the last call."""
        found, self._changes = self._changes, []
        return found

    def finish(self) -> None:
        """End the stream: all events are final."""
        self._add(self.machine.finish())
        self._changes += [] if self.watch is None else self.watch.finish()
        self._changes += [] if self.drift is None else self.drift.finish()

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values; changes not taken are lost."""
        watch = None if self.watch is None else self.watch.state()
        drift = None if self.drift is None else self.drift.state()
        return {"scores": self.machine.state(), "values": watch, "drift": drift}

    def restore(self, state: Mapping[str, Any] | None, *, rows: int) -> None:
        """Continue from a state; without one, as after so many rows without a score."""
        if state is None:
            self.machine.row = rows
            if self.watch is not None:
                self.watch.row = rows
            if self.drift is not None:
                self.drift.row = rows
            return
        self.machine.restore(state["scores"])
        if self.watch is not None and state["values"] is not None:
            self.watch.restore(state["values"])
        if self.drift is not None:
            if (drift := state.get("drift")) is not None:
                self.drift.restore(drift)
            else:
                self.drift.row = rows

    def _add(self, changes: list[Change]) -> None:
        """Add changes of events of the score, marked if drift holds."""
        if changes:
            self._changes += mark(changes, self.drift)


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
