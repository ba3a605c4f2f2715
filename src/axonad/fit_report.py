"""The report at the end of ``fit``: what was learned from, the threshold, and what looks wrong.

``detector.fit_report_`` holds it and ``axonad fit`` prints it. It belongs to the call of ``fit``,
not to the model: it is not saved, and a loaded detector has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.calibration import Calibration
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import count_events
from axonad.data.context_candidates import Candidate, find_candidates
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.scaling import find_movement
from axonad.progress import Stopwatch

MANY = 10.0  # times the asked rate at which alarms on held-out rows are worth a warning
LISTED = 5  # names and epochs that are listed one by one


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Rows at the end of the training series that the network was not trained on."""

    rows: int
    above: int  # of these rows, those that score above the threshold
    events: int  # runs of such rows

    @property
    def share(self) -> float:
        """Share of the rows that score above the threshold."""
        return self.above / self.rows


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What ``fit`` learned from and what threshold it set; ``str()`` gives a few plain lines."""

    rows: int
    channels: int
    windows: int
    constant: tuple[str, ...]  # names or numbers of channels with one value in all rows
    nearly_constant: tuple[str, ...]  # see axonad.data.scaling
    threshold: float
    rule: str
    rate: float  # share of normal steps that may lie above the threshold
    above: int  # training steps that do
    median: float  # of the training scores
    held_out: HeldOut | None  # None where no rows were held out
    training_errors: tuple[float, ...]  # by epoch; empty where the training does not keep them
    validation_errors: tuple[float, ...]  # by epoch; empty without held-out rows
    kept_epoch: int | None  # epoch of the weights that were kept; None without epochs
    notes: tuple[str, ...] = ()  # what the detector itself has to say about its fit
    candidates: tuple[Candidate, ...] = ()  # channels that may only set the scene
    recordings: int = 1
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)  # by part of the fit
    calibration: Calibration | None = None  # what the threshold rests on, with an alarm budget

    @property
    def share_above(self) -> float:
        """Share of the training steps that score above the threshold."""
        return self.above / self.rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should look at before trusting the detector, one sentence each."""
        found = []
        if not self.threshold > self.median:
            found.append(
                f"the threshold {self.threshold:.6g} is not above the median training score "
                f"{self.median:.6g}; alarms mean nothing, fit on rows that vary more"
            )
        elif self.threshold == 0:
            found.append("the threshold is 0; any score above it raises an alarm")
        by_rate = self.calibration is None
        if by_rate and self.held_out is not None and self.held_out.share > MANY * self.rate:
            found.append(
                f"{_percent(self.held_out.share)} of the held-out steps lie above the threshold, "
                f"{self.held_out.share / self.rate:.0f} times the rate asked for; expect false "
                "alarms, or fit on more rows that show all of normal operation"
            )
        for names, how in ((self.constant, "constant"), (self.nearly_constant, "nearly constant")):
            if names:
                what = "a channel is" if len(names) == 1 else f"{len(names)} channels are"
                found.append(f"{what} {how} in the training data: {_listed(names)}")
        if self.calibration is not None:
            found += self.calibration.warnings()
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        held_out, calibration = self.held_out, self.calibration
        return values | {
            "held_out": None if held_out is None else vars(held_out),
            "candidates": [str(candidate) for candidate in self.candidates],
            "calibration": None if calibration is None else calibration.to_json(),
            "seconds": {part: round(seconds, 3) for part, seconds in self.seconds.items()},
            "warnings": self.warnings,
        }

    def times(self) -> str:
        """Return the seconds of each part of the fit in one line, the longest first.

        >>> import types
        >>> FitReport.times(types.SimpleNamespace(seconds={"reading": 0.2, "relation": 1.5}))
        '1.70 s: relation 1.50, reading 0.20'
        """
        ordered = sorted(self.seconds.items(), key=lambda item: -item[1])
        parts = ", ".join(f"{part} {seconds:.2f}" for part, seconds in ordered)
        return f"{sum(self.seconds.values()):.2f} s: {parts}"

    def __str__(self) -> str:
        lines = [
            f"{self.recordings} recordings, "
            * (self.recordings > 1)
            + f"{self.rows} rows, {_count(self.channels, 'channel')}, "
            f"{_count(self.windows, 'window')}",
            f"threshold {self.threshold:.6g} ({self._how()}): {self.above} of "
            f"{self.rows} training steps above it ({_percent(self.share_above)})",
        ]
        if self.held_out is not None:
            lines.append(
                f"held out, the last {self.held_out.rows} rows: {self.held_out.above} above it "
                f"({_percent(self.held_out.share)}), {_count(self.held_out.events, 'event')}"
            )
        for kind, errors in (
            ("training", self.training_errors),
            ("validation", self.validation_errors),
        ):
            if errors:
                lines.append(f"{kind} error by epoch: {_epochs(errors)}")
        if self.calibration is not None:
            lines += [f"alarms: {note}" for note in self.calibration.notes()]
        if self.kept_epoch is not None:
            lines.append(f"kept the weights of epoch {self.kept_epoch}")
        warnings = [f"warning: {text}" for text in self.warnings]
        candidates = [f"note: {candidate}" for candidate in self.candidates]
        return "\n".join([*lines, *self.notes, *candidates, *warnings])

    def _how(self) -> str:
        """Return what the threshold was chosen by."""
        if self.calibration is not None:
            return f"budget of {self.calibration.budget}"
        return f"{self.rule}, rate {self.rate:g}"


class Fitted(Protocol):
    """The part of a fitted detector that is reported."""

    contamination: float
    threshold: str
    context: tuple[str, ...]
    threshold_: float
    decision_scores_: NDArray[np.float64]
    recordings_: Recordings
    stopwatch_: Stopwatch

    @property
    def history(self) -> int:
        """Number of rows a score needs."""


def report_fit(
    detector: Fitted, X: Matrix, names: Names, calibration: Calibration | None = None
) -> FitReport:
    """Return the report on a detector that was just fitted on ``X``, and of its alarms.

    Rows are held out by a detector with the method ``count_training_rows``; errors by epoch come
    from its attribute ``training_``, a :class:`~axonad.train.checkpoint.History`, and further lines
    from its attribute ``fit_notes_``.
    """
    scores, threshold = detector.decision_scores_, detector.threshold_
    labels = names or tuple(str(i) for i in range(X.shape[1]))
    constant, nearly, _ = find_movement(X, names)
    training: Any = getattr(detector, "training_", None)
    named = set(map(str, detector.context))
    return FitReport(
        rows=len(X),
        channels=X.shape[1],
        windows=detector.recordings_.count(detector.history),
        constant=tuple(labels[i] for i in np.flatnonzero(constant)),
        nearly_constant=tuple(labels[i] for i in np.flatnonzero(nearly)),
        threshold=threshold,
        rule=detector.threshold,
        rate=detector.contamination,
        above=int((scores > threshold).sum()),
        median=float(np.nanmedian(scores)),
        held_out=_held_out(detector, len(X)),
        training_errors=tuple(getattr(training, "training", ())),
        validation_errors=tuple(getattr(training, "validation", ())),
        kept_epoch=getattr(training, "kept_epoch", None),
        notes=tuple(getattr(detector, "fit_notes_", ())),
        candidates=tuple(
            candidate
            for candidate in find_candidates(detector.recordings_.matrices(X), names)
            if candidate.channel not in named
        ),
        recordings=len(detector.recordings_.whole),
        calibration=calibration,
        seconds=dict(detector.stopwatch_.seconds),
    )


def _held_out(detector: Fitted, rows: int) -> HeldOut | None:
    count: Any = getattr(detector, "count_training_rows", None)
    first = rows if count is None else count(detector.recordings_)
    if first == rows:
        return None
    scores = detector.decision_scores_[first:]
    alarms = scores > detector.threshold_
    cuts = [part.start for part in detector.recordings_.after(first).parts]
    events = count_events(scores, AlarmPolicy(start=detector.threshold_), cuts=cuts)
    return HeldOut(rows=rows - first, above=int(alarms.sum()), events=events)


def _epochs(errors: Sequence[float]) -> str:
    """Return a few errors one by one, many as the first, the best and the last."""
    if len(errors) <= LISTED:
        return ", ".join(f"{error:.4g}" for error in errors)
    best = int(np.argmin(errors))
    return (
        f"{errors[0]:.4g} first, {errors[best]:.4g} best (epoch {best + 1}), {errors[-1]:.4g} last "
        f"({len(errors)} epochs)"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
