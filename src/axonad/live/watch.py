"""Scores deliveries: samples onto the raster, rows through the fleet, changes of events.

What it returns is everything that has to be stored together. Only samples decide the result, never
the time at which they are scored or how they are grouped.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import Change
from axonad.config import check_int
from axonad.data.holding import HOLD_LIMIT
from axonad.data.raster import SECOND, parse_duration, parse_rate
from axonad.detector import Detector
from axonad.errors import ConfigError, DataWarning, ModelFileError
from axonad.live.clock import ServerClock
from axonad.live.config import Input
from axonad.live.duration import to_micros
from axonad.live.event_records import record_change
from axonad.live.packing import pack_samples, pack_state, unpack_samples, unpack_state
from axonad.live.raster import Row
from axonad.live.record import EventRecord, Notice
from axonad.live.sample import Delivery, Receipt, Sample
from axonad.live.store.contract import Commit, Saved, Snapshot, Tail
from axonad.live.vehicle import VehicleStream
from axonad.modelfile import MISFITS
from axonad.stream import Fleet

RECENT = 600  # rows of a vehicle in memory


@dataclass
class Work:
    """What deliveries changed: vehicles touched, news of events, and a receipt for each."""

    touched: dict[str, VehicleStream] = field(default_factory=dict)
    events: dict[str, EventRecord] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    receipts: list[tuple[Delivery, Receipt]] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)


class Watch:
    """The vehicles in memory, and the detector that scores them.

    Parameters
    ----------
    detector
        A fitted, causal detector with an alarm policy and channel names.
    settings
        The table ``[input]`` of the configuration.
    snapshot_rows
        Rows after which a vehicle's state is stored whole.
    """

    def __init__(
        self,
        detector: Detector,
        settings: Input,
        *,
        snapshot_rows: int = 100,
        clock: ServerClock | None = None,
    ) -> None:
        check_int("snapshot_rows of [store]", snapshot_rows, low=1, high=RECENT)
        if detector.channel_names is None:
            raise ConfigError(
                "the model was fitted without channel names; fit it again on a table with a header"
            )
        if detector.alarm_setup_ is None:
            raise ConfigError(
                "the model has no alarm policy; fit it with --budget, or give it one with "
                "axonad recalibrate"
            )
        self.detector, self.settings = detector, settings
        self.clock = clock or ServerClock()
        self.interval = raster_interval(detector, settings)
        self.vehicles: dict[str, VehicleStream] = {}
        self.counts: Counter[str] = Counter()
        self._columns = dict.fromkeys(detector.channel_names)
        self._pick = _picker(detector.channel_names)
        self._ages = max_ages(detector, settings, self.interval)
        self._fleet = Fleet(detector, hold_limit=hold_limit(detector, settings))
        self._lateness = to_micros("lateness of [input]", settings.lateness)
        self._ahead = to_micros("max_ahead of [input]", settings.max_ahead)
        self._snapshot_rows = snapshot_rows

    def take(self, deliveries: Iterable[Delivery]) -> Work:
        """Score deliveries; every vehicle of theirs that is stored must have been resumed."""
        work = Work()
        now = self.clock.now()
        for delivery in deliveries:
            refused: Counter[str] = Counter()
            with np.errstate(over="ignore", invalid="ignore"):  # in sums of huge values
                for sample in delivery.samples:
                    if reason := self._accept(sample, work, now):
                        refused[reason] += 1
            accepted = len(delivery.samples) - refused.total()
            self.counts["samples"] += len(delivery.samples)
            self.counts.update(refused)
            work.receipts.append((delivery, Receipt(accepted, dict(refused))))
            if delivery.position is not None:
                source, number = delivery.position
                work.positions[source] = number  # the newest: a stream may have begun anew
        self._score(work.touched.values(), work)
        return work

    def commit(self, work: Work, *, number: int) -> Commit:
        """Return what is to be stored of some work."""
        tails, snapshots = [], []
        for vehicle in work.touched.values():
            if vehicle.rows_unsaved >= self._snapshot_rows:
                snapshots.append(self.snapshot(vehicle))
            elif vehicle.unsaved:
                tails.append(Tail(vehicle.name, pack_samples(vehicle.unsaved)))
                vehicle.has_tails = True
            vehicle.unsaved = []
        events = list(work.events.values())
        return Commit(number, tails, snapshots, events, work.notices, work.positions)

    def snapshot(self, vehicle: VehicleStream) -> Snapshot:
        """Return the whole state of a vehicle, and its rows since the snapshot before."""
        name = vehicle.name
        stream = self._fleet.state(name).decode() if name in self._fleet else ""
        course = vehicle.recent.course(vehicle.rows_unsaved)
        vehicle.rows_unsaved, vehicle.has_tails, vehicle.unsaved = 0, False, []
        return Snapshot(name, pack_state(vehicle.state(stream)), vehicle.raster.newest, course)

    def resume(self, saved: Mapping[str, Saved]) -> dict[str, str]:
        """Bring vehicles back to where they were; return those that cannot be, and why.

        A vehicle whose state cannot be used begins anew with the samples stored since.
        """
        lost: dict[str, str] = {}
        for name, known in saved.items():
            vehicle = self._new(name)
            try:
                self._restore(vehicle, known.state)
            except (ModelFileError, *MISFITS) as error:
                lost[name] = str(error)
                self.counts["states lost"] += 1
                vehicle = self._new(name)
                vehicle.begin_after(known.last_time)
                if name in self._fleet:
                    self._fleet.remove(name)
            self._replay(vehicle, known.tails)
            now = self.clock.now()
            ago = max(0.0, now - vehicle.last_seen) if vehicle.last_seen else 0.0
            vehicle.seen_at = self.clock.monotonic() - ago
            self.vehicles[name] = vehicle
        self._score([self.vehicles[name] for name in saved], Work())  # told and stored before
        return lost

    def silent(self, seconds: float) -> list[VehicleStream]:
        """Return the vehicles that have sent nothing for so long."""
        limit = self.clock.monotonic() - seconds
        return [vehicle for vehicle in self.vehicles.values() if vehicle.seen_at < limit]

    def remove(self, name: str) -> None:
        """Remove a vehicle from memory; its snapshot must be stored."""
        del self.vehicles[name]
        if name in self._fleet:
            self._fleet.remove(name)

    def _accept(self, sample: Sample, work: Work, now: float) -> str:
        """Take a sample; return why not, if it is refused."""
        row = self._row(sample.values)
        if isinstance(row, str):
            return row
        vehicle = self.vehicles.get(sample.vehicle)
        newest = sample.time if vehicle is None else vehicle.raster.newest
        is_leap = vehicle is None or sample.time - newest > self._ahead
        if is_leap and sample.time - now * SECOND > self._ahead:
            if vehicle is not None:
                vehicle.counts["future"] += 1
            return "future"
        if vehicle is None:
            if len(self.vehicles) >= self.settings.max_vehicles:
                return "too many vehicles"
            vehicle = self.vehicles[sample.vehicle] = self._new(sample.vehicle)
            vehicle.generation = sample.time
        vehicle.last_seen, vehicle.seen_at = now, self.clock.monotonic()
        if not sample.values and self.interval is None:
            return ""  # it says what time it is, which decides nothing without a raster
        if reason := vehicle.raster.push(sample.time, row):
            vehicle.counts[reason] += 1
            return reason
        vehicle.unsaved.append((sample.time, row))
        work.touched[vehicle.name] = vehicle
        return ""

    def _row(self, values: Mapping[str, float]) -> Row | str:
        """Return values in the order of channels, NaN where there is none; or why not."""
        try:
            found = self._pick(values)
        except KeyError:
            found = tuple([values.get(name, math.nan) for name in self._columns])
        if not (self.settings.ignore_extra or values.keys() <= self._columns.keys()):
            return "unknown channel"
        if not math.isfinite(sum(found)):  # rarely; a value or the sum is NaN or infinite
            if values and not any(name in self._columns for name in values):
                return "no known channel"
            found = tuple([value if math.isfinite(value) else math.nan for value in found])
        return np.array(found, dtype=np.float64)

    def _score(self, vehicles: Iterable[VehicleStream], work: Work) -> None:
        """Score the complete rows of vehicles, the first of each together, then the second, ..."""
        waiting = [(vehicle, rows) for vehicle in vehicles if (rows := vehicle.raster.take())]
        number, changes = 0, list[tuple[VehicleStream, Change]]()
        with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", DataWarning)
            while waiting:
                changes += self._push(waiting, number)
                number += 1
                waiting = [(vehicle, rows) for vehicle, rows in waiting if len(rows) > number]
        for vehicle, change in changes:
            event, notice = record_change(vehicle, change)
            work.events[event.id] = event
            if notice is not None:
                work.notices.append(notice)
            if event.final:
                vehicle.firing.pop(event.id, None)
            else:
                vehicle.firing[event.id] = event

    def _push(
        self, waiting: Sequence[tuple[VehicleStream, list[tuple[int, Row]]]], number: int
    ) -> list[tuple[VehicleStream, Change]]:
        """Score one row of each vehicle; return what happened to their events."""
        rows = {vehicle.name: taken[number][1] for vehicle, taken in waiting}
        times = {vehicle.name: taken[number][0] / SECOND for vehicle, taken in waiting}
        steps, changes = self._fleet.push(rows, times), list[tuple[VehicleStream, Change]]()
        for vehicle, taken in waiting:
            (time, row), step = taken[number], steps[vehicle.name]
            score = float(step.scores[0])
            vehicle.score = None if math.isnan(score) else score
            vehicle.recent.add(time, row, score, self._fleet.is_firing(vehicle.name))
            vehicle.rows_unsaved += 1
            self.counts["scored"] += vehicle.score is not None
            self.counts["rows refused"] += len(step.refused)
            changes += [(vehicle, change) for change in step.changes]
        self.counts["rows"] += len(rows)
        return changes

    def _new(self, name: str) -> VehicleStream:
        return VehicleStream(
            name, max_age=self._ages, interval=self.interval, lateness=self._lateness, recent=RECENT
        )

    def _restore(self, vehicle: VehicleStream, state: bytes | None) -> None:
        """Bring a vehicle to a state; raise an error, and change nothing else, if it is damaged."""
        if state is None or not (stream := vehicle.restore(unpack_state(state))):
            return
        self._fleet.resume(vehicle.name, stream.encode())
        first = self._fleet.counts(vehicle.name)["rows"]
        vehicle.recent = type(vehicle.recent)(RECENT, len(self._columns), first=first)
        for event in self._fleet.current(vehicle.name):
            record, _ = record_change(vehicle, Change("fired", event.fired, event))
            vehicle.firing[record.id] = record

    def _replay(self, vehicle: VehicleStream, tails: Iterable[bytes]) -> None:
        """Push the samples stored since the state."""
        for tail in tails:
            for time, row in unpack_samples(tail, channels=len(self._columns)):
                if vehicle.is_new:
                    vehicle.generation = time
                vehicle.raster.push(time, row)
                vehicle.has_tails = True


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, float]], tuple[float, ...]]:
    """Return a function that picks the values of channels; it raises KeyError if one is missing."""
    if len(names) == 1:
        return lambda values: (values[names[0]],)
    return itemgetter(*names)


def raster_interval(detector: Detector, settings: Input) -> int | None:
    """Return the microseconds between rows; None if every sample is a row."""
    if settings.rate:
        return parse_rate(settings.rate)
    return None if detector.interval_ is None else max(1, round(detector.interval_ * SECOND))


def max_ages(detector: Detector, settings: Input, interval: int | None) -> NDArray[np.int64]:
    """Return for how many microseconds the value of each channel is held on the raster.

    A model of 0.2.0 does not say so; then it is one row.
    """
    names, one_row = detector.channel_names or (), interval or 0
    if settings.max_age:
        age = parse_duration("max_age of [input]", settings.max_age)
        return np.full(len(names), max(age, one_row), dtype=np.int64)
    hold = detector.hold_ or {}
    return np.array([max(hold.get(name, 0), one_row) for name in names], dtype=np.int64)


def hold_limit(detector: Detector, settings: Input) -> int:
    """Return in how many rows a missing value is replaced by the last one.

    None by default where the raster holds values for as long as model or settings say: its rows are
    those of a file.
    """
    if settings.hold_limit is not None:
        return settings.hold_limit
    ages = settings.max_age or detector.hold_
    return 0 if ages and raster_interval(detector, settings) is not None else HOLD_LIMIT
