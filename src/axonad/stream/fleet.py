"""Live streams of rows: of many vehicles with one detector, or of one.

A :class:`Fleet` owns all that a stream needs: it reads rows by position or by name, notices where
time breaks, holds missing values, scores the full windows of all vehicles in one pass and finds
their events. A :class:`Session` is a fleet of one. Rows come one by one, many at a time, or all at
once; scores and events are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import modelfile
from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.machine import Attribution
from axonad.alarms.scored import placed_at_end
from axonad.config import check_int
from axonad.data.clock import read_times
from axonad.data.context import NewContext
from axonad.data.holding import HOLD_LIMIT
from axonad.data.series import Series
from axonad.data.timing import to_second
from axonad.detector import Detector
from axonad.errors import (
    ConfigError,
    DivergedError,
    InputError,
    StaleError,
    UnknownNameError,
    suggest,
)
from axonad.explain import Why
from axonad.stream.rows import Row, RowReader
from axonad.stream.state import pack, unpack
from axonad.stream.step import Refused, Step
from axonad.stream.stream_state import StreamState
from axonad.stream.vehicles import Vehicle, check_vehicle, plain_time
from axonad.stream.window_scorer import WindowScorer
from axonad.threshold import Event

BLOCK = 2_048  # rows scored at a time where many are pushed

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Taken:
    """Rows of one push as they were read: values, and if they have times, seconds and times."""

    values: Row
    seconds: Array | None
    times: list[Any]


class Fleet:
    """Scores the live streams of many vehicles and finds their events.

    Each vehicle has the scores that ``decision_function`` with ``align="end"`` gives the same
    rows, whatever the others do. A vehicle joins with its first row, and not every push needs rows
    of every vehicle. Any thread may call any method; they wait for each other.

    Parameters
    ----------
    detector
        A fitted, causal detector for all vehicles. It is not modified, and many fleets may share
        it.
    state
        What :meth:`state` returned: all vehicles go on from there.
    hold_limit
        Maximum number of consecutive rows in which a channel's last value replaces a missing one.
        Default: that of the state, else 10.
    ignore_extra
        Drop channels that the model does not know; by default they are refused.
    keep
        Number of rows to keep for :meth:`explain`; 0 keeps none. They are part of the state.
    plain_events
        Find events of a detector without an alarm policy too: runs of scores above its threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from axonad import Fleet, make_detector
    >>> detector = make_detector("PCA", window=1)
    >>> fleet = Fleet(detector.fit(np.random.default_rng(0).normal(size=(500, 2))))
    >>> steps = fleet.push({"car 1": [0.1, -0.2], "car 2": [9.0, 0.3]})
    >>> [float(steps[name].scores[0]) > detector.threshold_ for name in ("car 1", "car 2")]
    [False, True]
    >>> fleet.remove("car 1")
    >>> fleet.vehicles
    ('car 2',)
    """

    def __init__(
        self,
        detector: Detector,
        state: bytes | None = None,
        *,
        hold_limit: int | None = None,
        ignore_extra: bool = False,
        keep: int = 0,
        plain_events: bool = False,
    ) -> None:
        given: object = detector
        if not isinstance(given, Detector):
            hint = "; load a saved one with axonad.load(path)"
            raise ConfigError(f"detector must be a fitted detector, got {given!r}{hint}")
        detector.check_causal("run live")
        check_int("keep", keep, low=0)
        if hold_limit is not None:
            check_int("hold_limit", hold_limit, low=0)
        self.detector = detector
        self.hold_limit = HOLD_LIMIT if hold_limit is None else hold_limit
        self._keep = keep
        self._finds_events = plain_events or detector.alarm_setup_ is not None
        self._reader = RowReader(
            detector.channel_names, detector.n_features_in_, ignore_extra=ignore_extra
        )
        self._scorer = WindowScorer(detector)
        self._streams: dict[Vehicle | None, StreamState] = {}
        self._attributed: dict[StreamState, tuple[int, Attribution]] = {}
        self._lock = RLock()
        if state is not None:
            self._restore(state, hold_limit)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty if the detector was fitted without names."""
        return self.detector.channel_names or ()

    @property
    def vehicles(self) -> tuple[Vehicle, ...]:
        """The vehicles of the fleet, in the order they joined."""
        return tuple(name for name in self._streams if name is not None)

    def __len__(self) -> int:
        return len(self._streams)

    def __contains__(self, vehicle: object) -> bool:
        return vehicle in self._streams

    # -- rows ----------------------------------------------------------------------------------

    def push(self, rows: Any, times: Any = None) -> dict[Vehicle, Step]:
        """Append rows of some vehicles; return for each what they gave.

        ``rows`` maps vehicles (strings or integers) to one row (values by position or by channel
        name) or to many (a list of rows, an array, a frame, a Series), and ``times`` vehicles to
        the time or times of these rows; it may leave some out. A time is a number of seconds, a
        datetime, a ``datetime64`` or ISO 8601 text. Where it runs backwards, or a step is longer
        than ten sampling intervals of the training series, the window is cleared first.

        A row with values that are missing for too long, and one whose score would not be finite,
        is refused: its :class:`Step` says why, and all others are scored. If something cannot be
        read, an InputError is raised and nothing has changed.
        """
        if not isinstance(rows, Mapping):
            kind = type(rows).__name__
            raise InputError(f"push needs a mapping from vehicles to rows, got {kind}")
        if times is not None and not isinstance(times, Mapping):
            kind = type(times).__name__
            raise InputError(f"times must be a mapping from vehicles to times, got {kind}")
        for vehicle in times or ():
            if vehicle not in rows:
                raise InputError(f"times has vehicle {vehicle!r:.100}, which has no row")
        with self._lock:
            taken = {}
            for vehicle, some in rows.items():
                check_vehicle(vehicle)
                try:
                    taken[vehicle] = self._take(some, None if times is None else times.get(vehicle))
                except InputError as error:
                    raise type(error)(f"vehicle {vehicle!r}: {error}") from None
            return self._push(taken)

    def cut(self, vehicle: Vehicle) -> tuple[Change, ...]:
        """Clear a vehicle's window and the values to hold, as after a gap; its counts stay.

        Return what happened to its events.
        """
        with self._lock:
            return self._cut(self._stream(vehicle))

    def finish(self, vehicle: Vehicle) -> tuple[Change, ...]:
        """End a vehicle's stream: all its events are final. Return what happened to them."""
        with self._lock:
            return self._finish(self._stream(vehicle))

    def remove(self, vehicle: Vehicle) -> None:
        """Remove a vehicle; its next row would start a new stream."""
        with self._lock:
            stream = self._stream(vehicle)
            self._scorer.remove(stream)
            self._attributed.pop(stream, None)
            del self._streams[vehicle]

    # -- what is known -------------------------------------------------------------------------

    def counts(self, vehicle: Vehicle) -> dict[str, int]:
        """Return a vehicle's number of rows, scores, held values, refused rows and gaps in time."""
        return self._stream(vehicle).counts()

    def current(self, vehicle: Vehicle) -> list[AlarmEvent]:
        """Return a vehicle's events that are not final."""
        with self._lock:
            return _current(self._stream(vehicle))

    def is_firing(self, vehicle: Vehicle) -> bool:
        """Return whether an event of a vehicle's score is firing."""
        finder = self._stream(vehicle).finder
        return finder is not None and finder.is_firing

    def attribution(self, vehicle: Vehicle) -> Attribution:
        """Return how anomalous each channel is in a vehicle's last row.

        None if the window is not full or the detector does not say. The window is scored again.
        """
        with self._lock:
            return self._attribution(self._stream(vehicle))

    def explain(self, vehicle: Vehicle, event: Event) -> Why:
        """Return why an event of a vehicle was raised, from the rows kept."""
        with self._lock:
            return self._explain(self._stream(vehicle), event)

    def new_context(self, vehicle: Vehicle) -> tuple[NewContext, ...]:
        """Return a vehicle's context channels that have left their training range."""
        context = self._stream(vehicle).context
        return () if context is None else context.found

    # -- states --------------------------------------------------------------------------------

    def state(self, vehicle: Vehicle | None = None) -> bytes:
        """Return the state of a vehicle, or of the whole fleet, as bytes without caches.

        A vehicle's state is that of a :class:`Session`. Rows that wait to be judged are judged for
        it: ask for it once per delivery, not per row.
        """
        with self._lock:
            if vehicle is not None:
                return self._packed(self._stream(vehicle))
            vehicles = [
                [name if isinstance(name, str) else int(name), self._streams[name].to_json()]
                for name in self.vehicles
            ]
            return pack(self._identity() | {"vehicles": vehicles}, kind="axonad-fleet")

    def resume(self, vehicle: Vehicle, state: bytes) -> None:
        """Add a vehicle that goes on from a state, with the same scores and events.

        Raise :class:`~axonad.errors.ModelFileError` if the state is damaged, of another detector or
        of other alarms; then the fleet stays as it was.
        """
        check_vehicle(vehicle)
        of = f"the state of vehicle {vehicle!r}"
        with self._lock:
            if vehicle in self:
                raise InputError(f"vehicle {vehicle!r} is in the fleet already; remove it first")
            document = unpack(state, kind="axonad-session", fingerprint=self._fingerprint, of=of)
            try:
                self._resume(vehicle, document)
            except modelfile.MISFITS as error:
                raise modelfile.damaged(of, error) from None

    # -- inside --------------------------------------------------------------------------------

    def _take(self, rows: Any, times: Any) -> Taken:
        """Read rows and times; raise InputError if they cannot be."""
        if hasattr(rows, "columns"):  # a frame may have times
            rows = self.detector.timed(rows)
        values, is_one = self._reader.take(rows)
        if times is None and isinstance(rows, Series):
            times = rows.times
        if times is None:
            return Taken(values, None, [None] * len(values))
        if is_one:
            return Taken(values, np.array([to_second(times)]), [plain_time(times)])
        seconds = read_times(times, len(values))
        return Taken(values, seconds, [plain_time(time) for time in times])

    def _push(self, taken: Mapping[Any, Taken]) -> dict[Any, Step]:
        for vehicle in taken:
            if vehicle not in self._streams:
                self._join(vehicle)
            whose = "" if vehicle is None else f"vehicle {vehicle!r}: "
            self._streams[vehicle].warn_of_context(taken[vehicle].values, whose=whose)
        single = {name: one for name, one in taken.items() if len(one.values) == 1}
        found = self._push_rows(single) if single else {}
        if len(single) == len(taken):
            return found
        return {
            name: found[name] if name in found else self._push_block(self._streams[name], one)
            for name, one in taken.items()
        }

    def _push_rows(self, taken: Mapping[Any, Taken]) -> dict[Any, Step]:
        """Push one row of each vehicle; all full windows are scored in one pass."""
        streams = {name: self._streams[name] for name in taken}
        held, reasons, cut = dict[Any, Any](), dict[Any, str](), set[Any]()
        for name, one in taken.items():
            stream = streams[name]
            if one.seconds is not None and stream.clock.advance(
                float(one.seconds[0]), self.detector.interval_
            ):
                stream.reset()
                cut.add(name)
            try:
                held[name] = stream.push(one.values[0])
            except StaleError as error:
                reasons[name] = str(error)
        full = [name for name, stream in streams.items() if stream.window.is_full]
        places, scores, parts = dict[Any, int](), np.empty(0), dict[str, Array]()
        if full:
            (scores, parts), errors = self._scorer.score([streams[name] for name in full])
            scores = scores.copy()  # steps keep parts of it, and detectors may reuse theirs
            parts = {name: values.copy() for name, values in parts.items()}
            for place, name in enumerate(full):
                if place in errors:
                    reasons[name] = errors[place]
                    streams[name].refuse()
                else:
                    places[name] = place
                    streams[name].scored += 1
        return {
            name: self._step(stream, taken[name], places.get(name), scores, parts,
                             held.get(name), reasons.get(name), is_cut=name in cut)
            for name, stream in streams.items()
        }  # fmt: skip

    def _step(
        self,
        stream: StreamState,
        one: Taken,
        place: int | None,
        scores: Array,
        parts: Mapping[str, Array],
        held: tuple[str, ...] | None,
        reason: str | None,
        *,
        is_cut: bool,
    ) -> Step:
        """Return what one row gave, whose score lies at a place of those of all vehicles."""
        row = stream.rows - 1
        if place is None:
            score, own = np.full(1, np.nan), dict[str, Array]()
        else:
            part = slice(place, place + 1)
            score, own = scores[part], {name: values[part] for name, values in parts.items()}
        changes = list[Change]()
        if stream.finder is not None:
            changes = stream.finder.add(
                score.tolist(), raw=one.values, times=one.times, cuts=(0,) if is_cut else (),
                attribution=lambda _: self._attribution(stream),
            )  # fmt: skip
        return Step(
            row, score, own, () if reason is None else (Refused(row, reason),), tuple(changes),
            {row: held} if held else {},
        )  # fmt: skip

    def _push_block(self, stream: StreamState, taken: Taken) -> Step:
        """Push any number of rows of one vehicle."""
        values, first, interval = taken.values, stream.rows, self.detector.interval_
        breaks = list[int]()
        if taken.seconds is not None:
            breaks = stream.clock.find_breaks(taken.seconds, interval)
            stream.clock.advance_many(taken.seconds, interval)
        block = _Block(self.detector, stream, len(values))
        stops = sorted({*range(0, len(values), BLOCK), *breaks, len(values)})
        for start, stop in pairwise(stops):
            if start in breaks:
                stream.reset()
            block.add(values[start:stop], self._scorer)
        changes = list[Change]()
        if stream.finder is not None:
            changes = stream.finder.add(
                block.scores, raw=values, times=taken.times, cuts=breaks,
                attribution=lambda place: self._attribution_of(block.window(place)),
            )  # fmt: skip
        held = {first + row: names for row, names in block.held.items()}
        refused = tuple(Refused(first + row, reason) for row, reason in block.refused.items())
        return Step(first, block.scores, block.parts, refused, tuple(changes), held)

    def _join(self, vehicle: Vehicle | None) -> StreamState:
        name = vehicle if vehicle is None or isinstance(vehicle, str) else int(vehicle)
        stream = self._streams[vehicle] = StreamState(
            self.detector, vehicle=name, hold_limit=self.hold_limit, keep=self._keep,
            finds_events=self._finds_events,
        )  # fmt: skip
        return stream

    def _stream(self, vehicle: Vehicle | None) -> StreamState:
        if vehicle not in self._streams:
            hint = suggest(str(vehicle), [name for name in self.vehicles if isinstance(name, str)])
            raise UnknownNameError(f"no vehicle {vehicle!r} among {len(self)} in the fleet{hint}")
        return self._streams[vehicle]

    def _cut(self, stream: StreamState) -> tuple[Change, ...]:
        stream.reset()
        return () if stream.finder is None else tuple(stream.finder.cut())

    def _finish(self, stream: StreamState) -> tuple[Change, ...]:
        return () if stream.finder is None else tuple(stream.finder.finish())

    def _attribution(self, stream: StreamState) -> Attribution:
        if not stream.window.is_full:
            return None
        known, total = self._attributed.get(stream), stream.window.total
        if known is None or known[0] != total:  # an alarm and its event both ask for it
            known = self._attributed[stream] = total, self._attribution_of(stream.window.rows())
        return known[1]

    def _attribution_of(self, window: Row) -> Attribution:
        try:
            found = placed_at_end(self.detector).explain(self.detector.in_context(window)).blame
        except DivergedError:  # the score is finite, but not what it is made of
            return None
        return None if found is None else found[-1]

    def _explain(self, stream: StreamState, event: Event) -> Why:
        if stream.kept is None:
            raise ConfigError("no rows are kept to explain events by; set keep=2000, say")
        return stream.kept.explain(self.detector, event)

    @cached_property
    def _fingerprint(self) -> str:
        return self.detector.fingerprint

    def _identity(self) -> dict[str, Any]:
        return {"detector": self._fingerprint, "hold_limit": self.hold_limit}

    def _packed(self, stream: StreamState) -> bytes:
        return pack(self._identity() | stream.to_json(), kind="axonad-session")

    def _restore(self, state: bytes, hold_limit: int | None) -> None:
        of = "the state"
        document = unpack(state, kind="axonad-fleet", fingerprint=self._fingerprint, of=of)
        try:
            self._hold_as(document, hold_limit)
            for vehicle, saved in document["vehicles"]:
                check_vehicle(vehicle)
                if vehicle in self:
                    raise ValueError(f"vehicle {vehicle!r:.40} appears twice")
                self._resume(vehicle, saved)
        except modelfile.MISFITS as error:
            raise modelfile.damaged(of, error) from None

    def _restore_one(self, state: bytes, hold_limit: int | None) -> StreamState:
        of = "the state"
        document = unpack(state, kind="axonad-session", fingerprint=self._fingerprint, of=of)
        try:
            self._hold_as(document, hold_limit)
            return self._resume(None, document)
        except modelfile.MISFITS as error:
            raise modelfile.damaged(of, error) from None

    def _hold_as(self, document: Mapping[str, Any], hold_limit: int | None) -> None:
        """Take the hold limit of a state, unless another one was given."""
        check_int("hold_limit", document["hold_limit"], low=0)
        self.hold_limit = document["hold_limit"] if hold_limit is None else hold_limit

    def _resume(self, vehicle: Vehicle | None, document: Mapping[str, Any]) -> StreamState:
        """Add a vehicle that goes on from a state, unless this raises an error."""
        stream = self._join(vehicle)
        try:
            stream.restore(document)
        except Exception:
            del self._streams[vehicle]
            raise
        return stream


class Session:
    """One live stream: a fleet of one.

    The parameters are those of :class:`Fleet`; the methods are too, without the vehicle.

    Examples
    --------
    >>> import numpy as np
    >>> from axonad import Session, make_detector
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> session = Session(make_detector("PCA", window=2).fit(rows))
    >>> session.push([0.1, -0.2]).scores
    array([nan])
    >>> session.push(rows[:4]).scores.round(1)
    array([3.5, 3.4, 4.1, 6.6])
    >>> Session(session.detector, session.state()).rows
    5
    """

    def __init__(
        self,
        detector: Detector,
        state: bytes | None = None,
        *,
        hold_limit: int | None = None,
        ignore_extra: bool = False,
        keep: int = 0,
        plain_events: bool = False,
    ) -> None:
        self._fleet = fleet = Fleet(
            detector, hold_limit=hold_limit, ignore_extra=ignore_extra, keep=keep,
            plain_events=plain_events,
        )  # fmt: skip
        if state is None:
            self._stream = fleet._join(None)
        else:
            self._stream = fleet._restore_one(state, hold_limit)

    @property
    def detector(self) -> Detector:
        """The detector that scores the rows."""
        return self._fleet.detector

    @property
    def hold_limit(self) -> int:
        """Maximum number of consecutive rows in which a value is held."""
        return self._fleet.hold_limit

    @property
    def rows(self) -> int:
        """Number of rows pushed, refused ones included."""
        return self._stream.rows

    @property
    def is_full(self) -> bool:
        """Whether the window is full, so that the last row has a score."""
        return self._stream.window.is_full

    def push(self, rows: Any, times: Any = None) -> Step:
        """Append one row or many, with their time or times; see :meth:`Fleet.push`."""
        with self._fleet._lock:
            return self._fleet._push({None: self._fleet._take(rows, times)})[None]

    def cut(self) -> tuple[Change, ...]:
        """Clear the window and the values to hold, as after a gap; see :meth:`Fleet.cut`."""
        with self._fleet._lock:
            return self._fleet._cut(self._stream)

    def finish(self) -> tuple[Change, ...]:
        """End the stream: all events are final. Return what happened to them."""
        with self._fleet._lock:
            return self._fleet._finish(self._stream)

    def counts(self) -> dict[str, int]:
        """Return the numbers of rows, scores, held values, refused rows, gaps, repeated times."""
        return self._stream.counts()

    @property
    def current(self) -> list[AlarmEvent]:
        """The events that are not final."""
        with self._fleet._lock:
            return _current(self._stream)

    @property
    def new_context(self) -> tuple[NewContext, ...]:
        """Context channels that have left their training range, with what was seen of them."""
        return () if self._stream.context is None else self._stream.context.found

    def attribution(self) -> Attribution:
        """Return how anomalous each channel is in the last row; see :meth:`Fleet.attribution`."""
        with self._fleet._lock:
            return self._fleet._attribution(self._stream)

    def explain(self, event: Event) -> Why:
        """Return why an event was raised, from the rows kept."""
        with self._fleet._lock:
            return self._fleet._explain(self._stream, event)

    def state(self) -> bytes:
        """Return the state as bytes, with which ``Session(detector, state)`` goes on.

        See :meth:`Fleet.state`.
        """
        with self._fleet._lock:
            return self._fleet._packed(self._stream)


def step(
    detector: Detector, state: bytes | None, rows: Any, times: Any = None, **options: Any
) -> tuple[Step, bytes]:
    """Return what rows give after a state, and the new state: for engines that keep states by key.

    ``options`` are those of :class:`Session`. Where rows come one by one, a :class:`Fleet` is
    several times faster.
    """
    session = Session(detector, state, **options)
    found = session.push(rows, times)
    return found, session.state()


class _Block:
    """Rows of one push of one stream, filled and scored part by part."""

    def __init__(self, detector: Detector, stream: StreamState, rows: int) -> None:
        self.scores: Array = np.full(rows, np.nan)
        self.parts: dict[str, Array] = {}
        self.held: dict[int, tuple[str, ...]] = {}
        self.refused: dict[int, str] = {}
        self._detector, self._stream, self._first, self._at = detector, stream, stream.rows, 0
        before = stream.window.rows()
        self._known = np.concatenate([before, np.full((rows, before.shape[1]), np.nan)])
        self._offset = len(before)  # rows before the first of the push

    def window(self, place: int) -> Row:
        """Return the filled rows of the window that ends at a row with a score."""
        end = self._offset + place + 1
        return self._known[end - self._detector.history : end]

    def add(self, rows: Row, scorer: WindowScorer) -> None:
        """Add rows between which time does not break."""
        while len(rows):
            mark = self._stream.marked()
            filled, names, reason = self._stream.fill_block(rows)
            done = len(filled) + bool(reason)
            try:
                self._score(filled, names)
            except DivergedError:  # of one of them: which one?
                self._stream.go_back(mark)
                for row in rows[:done]:
                    self._add_one(row, scorer)
            else:
                if reason:
                    self._refuse(reason)
            rows = rows[done:]

    def _score(self, filled: Row, names: list[tuple[str, ...]]) -> None:
        """Add filled rows; the window before them becomes part of their windows."""
        stream, size, at = self._stream, self._detector.history - 1, self._at
        known = np.concatenate([stream.window.rows()[max(0, stream.window.count - size) :], filled])
        complete = max(0, len(known) - size)
        stop = at + len(filled)
        if complete:
            scores, parts = self._detector.score_ends(known)
            self._set(slice(stop - complete, stop), scores, parts)
        stream.extend(filled, end=self._first + stop)
        self._known[self._offset + at : self._offset + stop] = filled
        self.held |= {at + i: held for i, held in enumerate(names) if held}
        self._at = stop

    def _add_one(self, row: Row, scorer: WindowScorer) -> None:
        stream, at = self._stream, self._at
        try:
            held = stream.push(row)
        except StaleError as error:
            self.refused[at], self._at = str(error), at + 1
            return
        self._known[self._offset + at] = stream.window.rows()[-1]
        if stream.window.is_full:
            (scores, parts), errors = scorer.score([stream])
            if errors:
                self._refuse(errors[0])
                return
            self._set(slice(at, at + 1), scores, parts)
        self.held |= {at: held} if held else {}
        self._at = at + 1

    def _set(self, rows: slice, scores: Array, parts: Mapping[str, Array]) -> None:
        self.scores[rows] = scores
        for name, values in parts.items():
            self.parts.setdefault(name, np.full(len(self.scores), np.nan))[rows] = values
        self._stream.scored += len(scores)

    def _refuse(self, reason: str) -> None:
        self.refused[self._at] = reason
        self._stream.refuse()
        self._at += 1


def _current(stream: StreamState) -> list[AlarmEvent]:
    return [] if stream.finder is None else stream.finder.current
