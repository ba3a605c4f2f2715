"""Scores in, events out: anomalies, bad data and drift of one stream or series.

The finder knows no detector. Whoever has scores gives them, all at once, in parts or row by row,
and gets the same changes: a stream, a file, a benchmark, scores placed at the centre of windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.bad_data import DataRules
from axonad.alarms.data_watch import DataWatch
from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.event import ANOMALY, DATA, DRIFT, AlarmEvent, Change
from axonad.alarms.machine import TOP, AlarmMachine, Attribution, Values, Vehicle
from axonad.alarms.policy import AlarmPolicy
from axonad.errors import InputError

ORDER = (DRIFT, ANOMALY, DATA)


class EventFinder:
    """Finds the events of one stream or series.

    Three look at the rows side by side: the state machine at the scores, the rules for bad data at
    the values as they came, the test for drift at both. An event of the score says whether drift
    held while it fired.

    Parameters
    ----------
    policy
        What starts and ends an event of the score.
    rules
        What values are no measurements; None to look for none.
    drift
        What normal data looks like; None to look for no drift.
    names
        Names of the channels; None if they have none, then they are numbered.
    top
        Most channels an event of the score lists.
    hold
        Number of rows for which missing values are held, which are not missing so long.
    vehicle
        Whose events these are.
    """

    def __init__(
        self,
        policy: AlarmPolicy,
        *,
        rules: DataRules | None = None,
        drift: DriftReference | None = None,
        names: Sequence[str] | None = None,
        top: int = TOP,
        hold: int = 0,
        vehicle: Vehicle = None,
    ) -> None:
        self._machine = AlarmMachine(policy, names=names, top=top, vehicle=vehicle)
        self._data = None if rules is None else DataWatch(rules, hold=hold, vehicle=vehicle)
        self._drift: DriftWatch | None = None
        if drift is not None and drift.statistics:
            listed = None if names is None else tuple(names)
            self._drift = DriftWatch(drift, names=listed, vehicle=vehicle)

    @property
    def row(self) -> int:
        """Number of rows seen."""
        return self._machine.row

    @property
    def is_firing(self) -> bool:
        """Whether an event of the score is firing."""
        return self._machine.is_firing

    @property
    def current(self) -> list[AlarmEvent]:
        """The events that are not final."""
        score = self._machine.event
        found = [] if score is None else [self._marked(score)]
        found += [] if self._data is None else self._data.events
        drift = None if self._drift is None else self._drift.event
        return found if drift is None else [*found, drift]

    def add(
        self,
        scores: Values | Sequence[float],
        *,
        raw: Values | None = None,
        times: Sequence[Any] | NDArray[Any] | None = None,
        cuts: Iterable[int] = (),
        attribution: Callable[[int], Attribution] | None = None,
    ) -> list[Change]:
        """Add rows; return what happened, in order of rows: within a row drift, score, bad data.

        Parameters
        ----------
        scores
            One for each row, NaN where there is none. It ends an event of the score.
        raw
            Values of the rows (rows, channels) as they came, NaN where one is missing; they must
            not be changed later. Needed to find bad data and drift.
        times
            Any values, copied to the events; JSON values where the state is saved.
        cuts
            Rows before which time breaks: events of score and data end, drift goes on.
        attribution
            How anomalous each channel is in a row, given its place in ``scores``. It is called for
            rows of events of the score only.
        """
        if raw is None and (self._data is not None or self._drift is not None):
            raise InputError("bad data and drift are found in the values as they came; pass raw")
        if len(scores) == 1:
            return self._add_row(
                float(scores[0]),
                None if raw is None else raw[0],
                None if times is None else times[0],
                0 in cuts,
                None if attribution is None else partial(attribution, 0),
            )
        values, cuts = np.asarray(scores, dtype=np.float64), tuple(cuts)
        changes = list[Change]()
        if self._drift is not None and raw is not None:
            changes += self._drift.push_many(raw, values, times=times, cuts=cuts)
        found = self._machine.push_many(values, attribution=attribution, times=times, cuts=cuts)
        changes += self._all_marked(found)
        if self._data is not None and raw is not None:
            changes += self._data.push_many(raw, times=times, cuts=cuts)
        return _in_order(changes)

    def skip(self, rows: int) -> list[Change]:
        """Add rows that nobody could read or score; return what happened."""
        changes = self._all_marked(self._machine.skip(rows))
        if self._data is not None:
            changes += self._data.cut()
            self._data.row += rows
        if self._drift is not None:
            self._drift.cut()
            self._drift.row += rows
        return changes

    def cut(self) -> list[Change]:
        """End the events of score and data, as where time breaks; a drift goes on."""
        changes = self._all_marked(self._machine.cut())
        if self._drift is not None:
            self._drift.cut()
        return changes if self._data is None else changes + self._data.cut()

    def finish(self) -> list[Change]:
        """End with the last row: all events are final, and ``firing`` if they still were."""
        changes = self._all_marked(self._machine.finish())
        changes += [] if self._data is None else self._data.finish()
        return changes if self._drift is None else changes + self._drift.finish()

    def hold_for(self, rows: int) -> None:
        """Set for how many rows missing values are held from now on."""
        if self._data is not None:
            self._data.hold_for(rows)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values: that of all three."""
        return {
            "scores": self._machine.state(),
            "data": None if self._data is None else self._data.state(),
            "drift": None if self._drift is None else self._drift.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        self._machine.restore(state["scores"])
        for part, saved in ((self._data, state["data"]), (self._drift, state["drift"])):
            if part is not None and saved is not None:
                part.restore(saved)
            elif part is not None:  # the model has learned to judge it since
                part.row = self.row

    def _add_row(
        self,
        score: float,
        values: Values | None,
        time: Any,
        is_cut: bool,
        attribution: Callable[[], Attribution] | None,
    ) -> list[Change]:
        """Add one row, in a fraction of the time that arrays would take."""
        changes = self.cut() if is_cut else []
        if self._drift is not None and values is not None:
            changes += self._drift.push(values, score, time=time)
        found = self._machine.push(score, attribution=attribution, time=time)
        changes += self._all_marked(found)
        if self._data is not None and values is not None:
            changes += self._data.push(values, time=time)
        return _in_order(changes) if is_cut else changes

    def _all_marked(self, changes: list[Change]) -> list[Change]:
        return [replace(change, event=self._marked(change.event)) for change in changes]

    def _marked(self, event: AlarmEvent) -> AlarmEvent:
        """Return an event of the score, marked if drift was known to hold in one of its rows."""
        if self._drift is None or not self._drift.holds(event.start, event.end):
            return event
        return replace(event, drift=True)


def _in_order(changes: list[Change]) -> list[Change]:
    """Return changes in order of rows, and within a row by category."""
    return sorted(changes, key=lambda change: (change.row, ORDER.index(change.event.kind)))
