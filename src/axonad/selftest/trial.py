"""Run a self-test: plant faults into a normal recording and see which a detector finds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import count_events
from axonad.data.frames import Matrix, Names
from axonad.data.series import Series
from axonad.data.timing import sampling_interval, to_seconds
from axonad.errors import DataWarning, InputError
from axonad.live_windows import Scored
from axonad.progress import Progress
from axonad.selftest.kinds import SIZELESS, Values
from axonad.selftest.planting import Ground, Planting, draw_wishes
from axonad.selftest.responses import find_responses
from axonad.selftest.result import Row, SelfTest
from axonad.selftest.settings import Settings
from axonad.stretches import cuts_of, stretches_of

ALARMED = 0.05  # larger share of rows in alarm before anything is planted: results say little


class Tested(Protocol):
    """The part of a fitted detector that is tested."""

    threshold_: float
    interval_: float | None

    @property
    def history(self) -> int:
        """Number of rows a score needs."""

    @property
    def channel_names(self) -> Names:
        """Names of the channels in training."""

    @property
    def context_columns(self) -> tuple[int, ...]:
        """Columns of channels that only set the scene."""

    @property
    def is_causal(self) -> bool:
        """Whether a score depends on its window alone."""

    @property
    def why_not_causal(self) -> str:
        """Why it does not."""

    def score_ends(self, X: Matrix) -> Scored:
        """Return the scores of the rows with their full history."""


def run_self_test(
    detector: Tested, X: Sequence[Any], values: Sequence[Matrix], settings: Settings
) -> SelfTest:
    """Return what a fitted detector finds in recordings; ``values`` are ``X`` checked by it."""
    trial = Trial(detector, X, values, settings)
    trial.run()
    return trial.result()


class Trial:
    """One self-test, while it runs."""

    def __init__(
        self, detector: Tested, X: Sequence[Any], values: Sequence[Matrix], settings: Settings
    ) -> None:
        self._detector, self._settings = detector, settings
        self._values = values[0] if len(values) == 1 else np.concatenate(values)
        self._labels = detector.channel_names or tuple(map(str, range(self._values.shape[1])))
        self._interval = _interval_of(X[0])
        wanted = self._judged(settings.columns(self._labels))
        stretches = _stretches(detector, X, values)
        self._score_clean(stretches, cuts_of(stretches, len(self._values)))
        self._ground = Ground(
            self._values, stretches, history=detector.history, names=detector.channel_names,
            quiet=np.nan_to_num(self._clean, nan=np.inf) <= detector.threshold_,
        )  # fmt: skip
        self._columns = self._moving(wanted)
        self._durations = self._choose_durations()
        if not detector.is_causal:
            _warn(
                "plantings may influence each other, because scores depend on rows outside of "
                f"their window: {detector.why_not_causal}"
            )
        self._planted: dict[tuple[int, str], int] = {}
        self._delays: dict[tuple[int, str, float], list[int]] = {}
        self._repeats = 0

    def run(self) -> None:
        """Plant and score, repeat by repeat, within the time limit."""
        settings = self._settings
        began = last = time.monotonic()
        sizes = sum(1 if kind in SIZELESS else len(settings.sizes) for kind in settings.kinds)
        total = settings.repeats * len(self._columns) * sizes
        with Progress("self-test", total, show=settings.verbose) as progress:
            for repeat in range(settings.repeats):
                self._run_once(repeat, progress)
                self._repeats += 1
                now = time.monotonic()
                expected, last = now - began + (now - last), now
                is_last = self._repeats == settings.repeats
                if settings.seconds is not None and expected > settings.seconds and not is_last:
                    _warn(
                        f"{self._repeats} of {settings.repeats} repeats were made within the time "
                        f"limit of {settings.seconds:g} s; pass a larger one for the others"
                    )
                    break
            progress.finish()
        if not self._planted:
            raise InputError(
                "no fault could be planted: no channel moves by half a unit within "
                f"{self._durations[1]} rows; pass more rows, longer faults or other kinds"
            )

    def _run_once(self, repeat: int, progress: Progress) -> None:
        """Plant one fault of each kind and size into each channel."""
        settings = self._settings
        wishes = draw_wishes(settings.kinds, self._columns, self._durations, repeat, settings.seed)
        rng = np.random.default_rng([settings.seed, 1 + repeat])
        for copy in self._ground.lay_out(wishes, rng):
            for planting in copy:
                key = planting.channel, planting.kind
                self._planted[key] = self._planted.get(key, 0) + 1
            self._descend(copy, progress)

    def _descend(self, copy: Sequence[Planting], progress: Progress) -> None:
        """Score one copy with the largest size, then with smaller ones while faults are found."""
        left = list(copy)
        for size in reversed(self._settings.sizes):
            if not left:
                break
            sized = [(planting, size if planting.is_sized else 1.0) for planting in left]
            found: list[Planting] = []
            responses = find_responses(
                lambda rows: self._detector.score_ends(rows)[0], self._values, sized,
                history=self._detector.history, whole=not self._detector.is_causal,
            )  # fmt: skip
            for (planting, used), scores in zip(sized, responses, strict=True):
                alarms = np.flatnonzero(scores > self._detector.threshold_)
                progress.advance()
                if len(alarms):
                    key = planting.channel, planting.kind, used
                    self._delays.setdefault(key, []).append(int(alarms[0]))
                if len(alarms) and planting.is_sized:
                    found.append(planting)
                elif planting.is_sized:
                    progress.advance(self._settings.sizes.index(size))
            left = found

    def result(self) -> SelfTest:
        """Return the result of the repeats made so far."""
        detector, settings = self._detector, self._settings
        scored = np.isfinite(self._clean)
        labels = {column: self._labels[column] for column in self._columns}
        rows = tuple(
            self._row(column, kind, size)
            for column in self._columns
            for kind in settings.kinds
            for size in ((None,) if kind in SIZELESS else settings.sizes)
        )
        return SelfTest(
            detector=type(detector).__name__,
            threshold=float(detector.threshold_),
            history=detector.history,
            channels=tuple(labels.values()),
            kinds=tuple(settings.kinds),
            sizes=tuple(float(size) for size in settings.sizes),
            units={name: float(self._ground.units[i]) for i, name in labels.items()},
            durations=self._durations,
            repeats=self._repeats,
            seed=settings.seed,
            rows=rows,
            recording_rows=len(self._values),
            scored_rows=int(scored.sum()),
            alarm_rows=self._alarm_rows,
            false_alarms=self._false_alarms,
            interval=self._interval,
        )

    def _row(self, column: int, kind: str, size: float | None) -> Row:
        delays = self._delays.get((column, kind, 1.0 if size is None else size), [])
        return Row(
            channel=self._labels[column],
            kind=kind,
            size=None if size is None else float(size),
            plantings=self._planted.get((column, kind), 0),
            found=len(delays),
            median_delay=float(np.median(delays)) if delays else None,
        )

    # -- preparation -------------------------------------------------------------------------

    def _score_clean(self, stretches: Sequence[slice], cuts: tuple[int, ...]) -> None:
        """Score the clean recording and count its alarms."""
        detector, behind = self._detector, self._detector.history - 1
        self._clean: Values = np.full(len(self._values), np.nan)
        for part in stretches:
            scores = detector.score_ends(self._values[part])[0]
            self._clean[part.start + behind : part.stop] = scores
        alarms: NDArray[np.bool_] = self._clean > detector.threshold_
        self._alarm_rows = int(alarms.sum())
        # A score that dips below the threshold for a quarter of a window is still the same event.
        policy = AlarmPolicy(start=detector.threshold_, merge_gap=detector.history // 4)
        self._false_alarms = count_events(self._clean, policy, cuts=cuts)
        share = self._alarm_share()
        if share > ALARMED:
            _warn(
                f"{100 * share:.0f} % of the rows are in alarm before anything is planted; faults "
                "are planted between the alarms only, and the results say little. Fit on more rows "
                "that show all of normal operation, or raise the threshold"
            )

    def _alarm_share(self) -> float:
        return self._alarm_rows / int(np.isfinite(self._clean).sum())

    def _judged(self, wanted: Sequence[int]) -> list[int]:
        """Return the wanted channels that are not context; warn about the others."""
        scene = [self._labels[i] for i in wanted if i in self._detector.context_columns]
        if len(scene) == len(wanted):
            raise InputError(
                f"nothing to plant into: {', '.join(scene)} only set the scene (context) and are "
                "not judged; choose other channels"
            )
        if scene:
            _warn(f"left out, because they only set the scene (context): {', '.join(scene)}")
        return [i for i in wanted if i not in self._detector.context_columns]

    def _moving(self, wanted: Sequence[int]) -> list[int]:
        """Return the wanted channels that move; warn about the others."""
        still = [self._labels[i] for i in wanted if self._ground.still[i]]
        if len(still) == len(wanted):
            raise InputError(
                "nothing to plant into: "
                + ("all channels are" if len(wanted) > 1 else f"channel {still[0]!r} is")
                + " constant in the recording, so faults have no unit; pass rows that vary"
            )
        if still:
            _warn(
                f"left out, because constant in the recording and without a unit for the size of "
                f"faults: {', '.join(still)}"
            )
        return [i for i in wanted if not self._ground.still[i]]

    def _choose_durations(self) -> tuple[int, int]:
        """Return the rows of the shortest and longest fault; raise if there is no room."""
        settings, room = self._settings, self._ground.longest
        if room < settings.shortest:
            share, behind = self._alarm_share(), max(self._detector.history, 2) - 1
            least = settings.shortest + 2 * behind
            reason = f"expected at least {least} rows without a gap, got {len(self._values)} rows"
            if share > 0:
                reason += f", {100 * share:.0f} % of them in alarm before anything is planted"
            raise InputError(f"no room to plant a fault of {settings.shortest} rows: {reason}")
        longest = settings.longest or max(settings.shortest, 2 * self._ground.period())
        if longest > room:
            _warn(f"faults are at most {room} rows long instead of {longest}: no room for longer")
        return settings.shortest, min(longest, room)


def _stretches(detector: Tested, X: Sequence[Any], values: Sequence[Matrix]) -> list[slice]:
    """Return the runs of rows without a gap in all recordings, one below the other."""
    found, first = [], 0
    for recording, rows in zip(X, values, strict=True):
        parts = stretches_of(
            recording, window=detector.history, interval=detector.interval_,
            split=detector.is_causal,
        )  # fmt: skip
        parts = [slice(0, len(rows))] if parts is None else parts
        found += [slice(first + part.start, first + part.stop) for part in parts]
        first += len(rows)
    return found


def _interval_of(X: Any) -> float | None:
    """Return the sampling interval of a recording in seconds; None if it has no times."""
    seconds = to_seconds(X.times) if isinstance(X, Series) and X.times is not None else None
    return None if seconds is None else sampling_interval(seconds)


def _warn(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=4)
