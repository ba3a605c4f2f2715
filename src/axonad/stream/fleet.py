"""Scores of many live streams with one detector in one process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

from axonad.alarms.event import Change
from axonad.config import check_int
from axonad.data.context import ContextWatch, NewContext
from axonad.data.holding import HOLD_LIMIT
from axonad.detector import Detector
from axonad.errors import DivergedError, InputError, StaleError, UnknownNameError, suggest
from axonad.explain import Why
from axonad.modelfile import MISFITS, damaged
from axonad.stream.lane import Held, Lane, warn_of_context
from axonad.stream.live_alarms import LiveAlarms
from axonad.stream.rows import RowReader
from axonad.stream.state import reading_state, write_state
from axonad.stream.vehicles import Vehicle, check_vehicle, list_refused, read_times_of
from axonad.stream.window_scorer import StreamResult, WindowScorer
from axonad.threshold import Event

KIND = "axonad-fleet"


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
        be read, none is appended. If rows are refused, for missing values or because their score
        would be NaN or infinite, all others are scored before a
        :class:`~axonad.errors.StaleError` is raised: its ``refused`` maps the refused vehicles to
        the reasons, and its ``results`` are those of the others.
        """
        if not isinstance(rows, Mapping):
            kind = type(rows).__name__
            raise InputError(f"push needs a mapping from vehicles to rows, got {kind}")
        arrays = {vehicle: self._read(vehicle, row) for vehicle, row in rows.items()}
        seconds = read_times_of(times, rows)
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
            if (watch := self._contexts.get(vehicle)) is not None:
                warn_of_context(watch, array[None], whose=f"vehicle {vehicle!r}: ")
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
            self._score(held, results, refused)
        for vehicle, array in arrays.items() if self._alarms else ():
            if (alarms := self._alarms.get(vehicle)) is not None:
                alarms.add(
                    array, results.get(vehicle), step=steps[vehicle], hold=self.hold_limit,
                    is_cut=vehicle in cut,
                    time=None if times is None else times.get(vehicle),
                    blame=partial(self._blame, vehicle),
                )  # fmt: skip
        if refused:
            raise StaleError(list_refused(refused), results=results, refused=refused)
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

    def state_of(self, vehicle: Vehicle) -> dict[str, Any]:
        """Return the state of one vehicle as JSON values; :meth:`resume` continues from it.

        It belongs to this detector (``detector.fingerprint``). Changes of events that were not
        taken are no part of it.
        """
        state = self._lane(vehicle).state()
        if (alarms := self._alarms.get(vehicle)) is not None:
            state["alarms"] = alarms.finder.state()
        if (watch := self._contexts.get(vehicle)) is not None:
            state["context"] = watch.state()
        return state

    def resume(self, vehicle: Vehicle, state: Mapping[str, Any]) -> None:
        """Add a vehicle that continues from a state of :meth:`state_of`, with the same scores.

        Raise :class:`~axonad.errors.ModelFileError` if the state is damaged or was saved with other
        alarms; then the fleet stays as it was.
        """
        check_vehicle(vehicle)
        if vehicle in self:
            raise InputError(f"vehicle {vehicle!r} is in the fleet already; remove it first")
        try:
            self._resume(vehicle, state)
        except MISFITS as error:
            raise damaged(f"the state of vehicle {vehicle!r}", error) from None

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the state of all vehicles to one JSON file; :meth:`restore` continues from it."""
        vehicles = [
            [vehicle if isinstance(vehicle, str) else int(vehicle), self.state_of(vehicle)]
            for vehicle in self._lanes
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
                fleet._resume(vehicle, state)
        return fleet

    def _join(self, vehicle: Vehicle) -> Lane:
        lane = self._lanes[vehicle] = self._scorer.new_lane()
        name = vehicle if isinstance(vehicle, str) else int(vehicle)
        if (alarms := LiveAlarms.of(self.detector, vehicle=name)) is not None:
            self._alarms[vehicle] = alarms
        if (watch := self.detector.watch_context(self.detector.channel_names)) is not None:
            self._contexts[vehicle] = watch
        return lane

    def _resume(self, vehicle: Vehicle, state: Mapping[str, Any]) -> None:
        """Add a vehicle that continues from a state, unless this raises an error."""
        check_vehicle(vehicle)
        if vehicle in self:
            raise ValueError(f"vehicle {vehicle!r:.40} appears twice")
        lane = self._join(vehicle)
        try:
            lane.restore(state)
            lane.clock.restore(state.get("time"))
            if (alarms := self._alarms.get(vehicle)) is not None:
                alarms.restore(state.get("alarms"), rows=lane.rows)
            if (watch := self._contexts.get(vehicle)) is not None:
                watch.restore(state.get("context"))
        except Exception:
            self.remove(vehicle)
            raise

    def _score(
        self, held: dict[Vehicle, Held], results: dict[Vehicle, StreamResult | None],
        refused: dict[Vehicle, str],
    ) -> None:  # fmt: skip
        """Score vehicles with full windows; add each to the results or to the refused."""
        full = [self._lanes[vehicle] for vehicle in held]
        found = self._scorer.score_each(full, list(held.values()))
        for vehicle, result in zip(held, found, strict=True):
            if isinstance(result, DivergedError):
                refused[vehicle] = str(result)
                del results[vehicle]
                self._lanes[vehicle].refuse()
            else:
                results[vehicle] = result

    def _blame(self, vehicle: Vehicle) -> Any:
        try:
            return self._scorer.blame(self._lanes[vehicle])
        except DivergedError:  # the score is finite, but not what it is made of
            return None

    def _read(self, vehicle: Vehicle, row: Any) -> Any:
        if vehicle not in self._lanes:
            check_vehicle(vehicle)
        try:
            return self._reader.read(row)
        except InputError as error:
            raise type(error)(f"vehicle {vehicle!r}: {error}") from None

    def _lane(self, vehicle: Vehicle) -> Lane:
        if vehicle not in self._lanes:
            hint = suggest(str(vehicle), [name for name in self._lanes if isinstance(name, str)])
            raise UnknownNameError(f"no vehicle {vehicle!r} among {len(self)} in the fleet{hint}")
        return self._lanes[vehicle]
