"""Scores of many live streams with one detector in one process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from axonad.alarms.event import Change
from axonad.config import check_int
from axonad.data.context import ContextWatch, NewContext
from axonad.data.holding import HOLD_LIMIT
from axonad.data.timing import to_second
from axonad.detector import Detector
from axonad.errors import InputError, StaleError, UnknownNameError, suggest
from axonad.explain import Why
from axonad.stream.lane import Held, Lane, warn_of_context
from axonad.stream.live_alarms import LiveAlarms
from axonad.stream.rows import RowReader
from axonad.stream.state import reading_state, write_state
from axonad.stream.window_scorer import StreamResult, WindowScorer
from axonad.threshold import Event

KIND = "axonad-fleet"
LISTED = 5  # vehicles named in an error message

Vehicle = str | int


class FleetScorer:
    """Scores the live streams of many vehicles, all rows of one ``push`` as one batch.

    Each vehicle gets the scores of a separate :class:`StreamScorer`. A vehicle joins with its first
    row, and not every push needs a row of every vehicle.

    Parameters
    ----------
    detector
        A fitted, causal detector for all vehicles. It is not modified.
    hold_limit
        Maximum number of consecutive rows in which a channel's last value replaces a missing one.
    ignore_extra
        Drop channels that the model does not know; by default they are refused.
    keep
        Number of rows to keep for :meth:`explain`; 0 keeps none. They are part of the saved state.

    Examples
    --------
    >>> import numpy as np
    >>> from axonad import FleetScorer, make_detector
    >>> detector = make_detector("PCA", window=1)
    >>> fleet = FleetScorer(detector.fit(np.random.default_rng(0).normal(size=(500, 2))))
    >>> results = fleet.push({"car 1": [0.1, -0.2], "car 2": [9.0, 0.3]})
    >>> results["car 1"].alarm, results["car 2"].alarm
    (False, True)
    >>> fleet.remove("car 1")
    >>> fleet.vehicles
    ('car 2',)
    """

    def __init__(
        self, detector: Detector, *, hold_limit: int = HOLD_LIMIT, ignore_extra: bool = False,
        keep: int = 0,
    ) -> None:  # fmt: skip
        check_int("hold_limit", hold_limit, low=0)
        self._scorer = WindowScorer(detector, keep=keep)
        self.detector = detector
        self.hold_limit = hold_limit
        self._reader = RowReader(
            detector.channel_names, detector.n_features_in_, ignore_extra=ignore_extra
        )
        self._lanes: dict[Vehicle, Lane] = {}
        self._alarms: dict[Vehicle, LiveAlarms] = {}  # empty without an alarm setup
        self._contexts: dict[Vehicle, ContextWatch] = {}  # empty without context channels

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty if the detector was fitted without names."""
        return self.detector.channel_names or ()

    @property
    def vehicles(self) -> tuple[Vehicle, ...]:
        """The vehicles of the fleet, in the order they joined."""
        return tuple(self._lanes)

    def __len__(self) -> int:
        return len(self._lanes)

    def __contains__(self, vehicle: object) -> bool:
        return vehicle in self._lanes

    def push(self, rows: Any, times: Any = None) -> dict[Vehicle, StreamResult | None]:
        """Append one row of some vehicles; return what ``StreamScorer.push`` would for each.

        ``rows`` maps vehicles (strings or integers) to rows, by position or by channel name, and
        ``times`` vehicles to the times of these rows; it may leave some out. If one of them cannot
        be read, none is appended. If rows are refused for missing values, all
        others are scored before a :class:`~axonad.errors.StaleError` is raised: its ``refused``
        maps the refused vehicles to the reasons, and its ``results`` are those of the others.
        """
        if not isinstance(rows, Mapping):
            kind = type(rows).__name__
            raise InputError(f"push needs a mapping from vehicles to rows, got {kind}")
        arrays = {vehicle: self._read(vehicle, row) for vehicle, row in rows.items()}
        seconds = _read_times(times, rows)
        results: dict[Vehicle, StreamResult | None] = {}
        held: dict[Vehicle, Held] = {}
        refused: dict[Vehicle, str] = {}
        steps: dict[Vehicle, int] = {}
        cut: set[Vehicle] = set()
        interval = self.detector.interval_
        for vehicle, array in arrays.items():
            lane = self._lanes.get(vehicle)
            if lane is None:
                lane = self._join(vehicle)
            whose = f"vehicle {vehicle!r}: "
            warn_of_context(self._contexts.get(vehicle), array[None], whose=whose)
            steps[vehicle] = lane.rows
            if vehicle in seconds and lane.clock.advance(seconds[vehicle], interval):
                lane.reset()
                cut.add(vehicle)
            try:
                names = lane.push(array, hold_limit=self.hold_limit)
            except StaleError as error:
                refused[vehicle] = str(error)
                continue
            results[vehicle] = None
            if lane.window.is_full:
                held[vehicle] = names
        if held:
            full = [self._lanes[vehicle] for vehicle in held]
            results |= zip(held, self._scorer.score(full, list(held.values())), strict=True)
        for vehicle, alarms in self._alarms.items():
            if vehicle in steps:
                lane, found = self._lanes[vehicle], results.get(vehicle)
                alarms.add(
                    arrays[vehicle], found, step=steps[vehicle], is_cut=vehicle in cut,
                    time=None if times is None else times.get(vehicle),
                    blame=partial(self._scorer.blame, lane),
                )  # fmt: skip
        if refused:
            raise StaleError(_error_message(refused), results=results, refused=refused)
        return results

    def alarms(self, vehicle: Vehicle) -> LiveAlarms | None:
        """Return a vehicle's alarms by the detector's setup; None if it has none."""
        self._lane(vehicle)
        return self._alarms.get(vehicle)

    def take_changes(self) -> list[Change]:
        """Return what has happened to the events of all vehicles since the last call."""
        return [change for alarms in self._alarms.values() for change in alarms.take()]

    def new_context(self, vehicle: Vehicle) -> tuple[NewContext, ...]:
        """Return a vehicle's context channels that have left their training range."""
        self._lane(vehicle)
        watch = self._contexts.get(vehicle)
        return () if watch is None else watch.found

    def counts(self, vehicle: Vehicle) -> dict[str, int]:
        """Return a vehicle's number of rows, scores, held values, refused rows and gaps in time."""
        lane = self._lane(vehicle)
        counts = {name: getattr(lane, name) for name in ("rows", "scored", "held", "refused")}
        return counts | {"gaps": lane.clock.gaps, "repeated": lane.clock.repeated}

    def explain(self, vehicle: Vehicle, event: Event) -> Why:
        """Return why an event of a vehicle was raised; see :meth:`StreamScorer.explain`."""
        return self._scorer.explain(self._lane(vehicle), event)

    def reset(self, vehicle: Vehicle) -> None:
        """Clear a vehicle's window and the values to hold, as after a gap; its counts stay."""
        self._lane(vehicle).reset()
        if (alarms := self._alarms.get(vehicle)) is not None:
            alarms.cut()

    def remove(self, vehicle: Vehicle) -> None:
        """Remove a vehicle; its next row would start a new stream."""
        lane = self._lane(vehicle)
        self._scorer.remove(lane)
        del self._lanes[vehicle]
        self._alarms.pop(vehicle, None)
        self._contexts.pop(vehicle, None)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the state of all vehicles to one JSON file; :meth:`restore` continues from it."""
        vehicles = [
            [vehicle if isinstance(vehicle, str) else int(vehicle), self._state(vehicle, lane)]
            for vehicle, lane in self._lanes.items()
        ]
        write_state(
            path, {"vehicles": vehicles}, kind=KIND, detector=self.detector,
            hold_limit=self.hold_limit, overwrite=overwrite,
        )  # fmt: skip

    @classmethod
    def restore(
        cls, path: str | Path, detector: Detector, *, ignore_extra: bool = False, keep: int = 0
    ) -> Self:
        """Return a fleet that continues where the saved one stopped, with the same scores."""
        fleet = cls(detector, ignore_extra=ignore_extra, keep=keep)
        with reading_state(path, kind=KIND, detector=detector) as (document, hold_limit):
            fleet.hold_limit = hold_limit
            for vehicle, state in document["vehicles"]:
                _check_vehicle(vehicle)
                if vehicle in fleet:
                    raise ValueError(f"vehicle {vehicle!r:.40} appears twice")
                lane = fleet._join(vehicle)
                lane.restore(state)
                lane.clock.restore(state.get("time"))
                if (alarms := fleet._alarms.get(vehicle)) is not None:
                    alarms.restore(state.get("alarms"), rows=lane.rows)
                if (watch := fleet._contexts.get(vehicle)) is not None:
                    watch.restore(state.get("context"))
        return fleet

    def _join(self, vehicle: Vehicle) -> Lane:
        lane = self._lanes[vehicle] = self._scorer.new_lane()
        name = vehicle if isinstance(vehicle, str) else int(vehicle)
        if (alarms := LiveAlarms.of(self.detector, vehicle=name)) is not None:
            self._alarms[vehicle] = alarms
        if (watch := self.detector.watch_context(self.detector.channel_names)) is not None:
            self._contexts[vehicle] = watch
        return lane

    def _state(self, vehicle: Vehicle, lane: Lane) -> dict[str, Any]:
        alarms, watch = self._alarms.get(vehicle), self._contexts.get(vehicle)
        state = lane.state() | ({} if alarms is None else {"alarms": alarms.state()})
        return state if watch is None else state | {"context": watch.state()}

    def _read(self, vehicle: Vehicle, row: Any) -> Any:
        if vehicle not in self._lanes:
            _check_vehicle(vehicle)
        try:
            return self._reader.read(row)
        except InputError as error:
            raise type(error)(f"vehicle {vehicle!r}: {error}") from None

    def _lane(self, vehicle: Vehicle) -> Lane:
        if vehicle not in self._lanes:
            hint = suggest(str(vehicle), [name for name in self._lanes if isinstance(name, str)])
            raise UnknownNameError(f"no vehicle {vehicle!r} among {len(self)} in the fleet{hint}")
        return self._lanes[vehicle]


def _read_times(times: Any, rows: Mapping[Vehicle, Any]) -> dict[Vehicle, float]:
    """Return the times of rows in seconds, by vehicle."""
    if times is None:
        return {}
    if not isinstance(times, Mapping):
        kind = type(times).__name__
        raise InputError(f"times must be a mapping from vehicles to times, got {kind}")
    found = {}
    for vehicle, time in times.items():
        if vehicle not in rows:
            raise InputError(f"times has vehicle {vehicle!r:.100}, which has no row")
        try:
            found[vehicle] = to_second(time)
        except InputError as error:
            raise InputError(f"vehicle {vehicle!r}: {error}") from None
    return found


def _check_vehicle(vehicle: object) -> None:
    if isinstance(vehicle, bool) or not isinstance(vehicle, str | Integral):
        raise InputError(f"a vehicle must be a string or an integer, got {vehicle!r:.100}")


def _error_message(refused: Mapping[Vehicle, str]) -> str:
    listed = "; ".join(
        f"vehicle {vehicle!r}: {why}" for vehicle, why in list(refused.items())[:LISTED]
    )
    more = f"; and {len(refused) - LISTED} more" if len(refused) > LISTED else ""
    return listed + more
