"""What ``axonad stream`` answers to each row, and what it counts.

Every row is one step. A row that cannot be read counts as a row of missing values, so that no
window spans an unnoticed gap: the answer has an ``error``, and a score if the last values could be
held in its place.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from axonad.alarmed import TimedEvent
from axonad.alarms.event import ANOMALY, DRIFT, Change
from axonad.alarms.machine import TOP, Attribution
from axonad.cli.event_files import event_record
from axonad.cli.event_log import EventLog
from axonad.cli.stream_lines import Row
from axonad.cli.stream_why import EventReasons, why_answer
from axonad.errors import DivergedError, InputError, StaleError
from axonad.report.drift_sentence import drift_sentence
from axonad.stream import StreamResult, StreamScorer
from axonad.threshold import rank_channels

Answer = dict[str, Any]


class Answers:
    """Scores the rows of one run of the command.

    Parameters
    ----------
    scorer
        The stream; it may have been restored from a state.
    log
        File for the events, if they are wanted.
    explain
        Whether events say why they were raised; the scorer must keep rows.
    """

    def __init__(
        self, scorer: StreamScorer, log: EventLog | None = None, *, explain: bool = False
    ) -> None:
        self.unreadable = self.usable = self.unread_times = 0
        self.first_error = ""
        self._scorer, self._log = scorer, log
        self._reasons = EventReasons(scorer) if explain else None
        self._ended: list[Answer] = []  # events without a policy that have ended and are explained
        self._has_times = False
        self._events = scorer.detector.event_finder()  # of a model without a policy
        self._before = self._totals()
        if self._follows and scorer.alarms is None:
            if (state := scorer.attached.get("event")) is None:
                self._events.skip(scorer.rows)
            else:
                self._events.restore(state)

    def answer(self, row: Row) -> Answer | None:
        """Return the JSON object to write for a row, None while the first window fills."""
        scorer, gaps = self._scorer, self._scorer.gaps
        if self._log is not None:
            self._log.start()
        result: StreamResult | None = None
        reason = ""
        self.unread_times += row.time is not None and row.second is None
        try:
            result, reason = self._push(row)
        except (StaleError, DivergedError) as error:
            reason = str(error)
        blame = self._blame_once()
        changes = self._take_changes(has_time=row.has_time)
        if self._follows and scorer.alarms is None:
            time = row.time if row.has_time else scorer.rows - 1
            self._follow(result, blame, time, cleared=scorer.gaps > gaps)
            changes = self._take_ended()
        if reason and not self.first_error:
            self.first_error = reason
        if result is None and not reason and not changes:
            return None
        answer: Answer = {"step": scorer.rows - 1}
        if row.has_time:
            answer["time"] = row.time
        if result is not None:
            answer |= _scores(result)
            if result.alarm and (found := blame()) is not None:
                answer["channels"] = list(rank_channels(found, scorer.names or None, top=TOP))
        answer |= {"events": changes} if changes else {}
        return answer | ({"error": reason} if reason else {})

    def finish(self, *, goes_on: bool) -> Answer | None:
        """End the stream; the open event is written, unless the stream ``goes_on`` later.

        Return a last answer with the events that end here, if they are explained.
        """
        if self._log is not None:
            self._log.start()
        if goes_on:
            return None
        self._write_final(self._events.finish())
        changes = self._take_ended()
        if self._scorer.alarms is not None:
            self._scorer.alarms.finish()
            changes += self._take_changes(has_time=self._has_times)
        if self._reasons is None or not changes:
            return None
        return {"step": self._scorer.rows - 1, "events": changes}

    def attach(self) -> None:
        """Attach what is saved with the state: the event that has not ended."""
        state = self._events.state() if self._scorer.alarms is None else None
        self._scorer.attached = {"event": state} if self._follows else {}

    @property
    def _follows(self) -> bool:
        """Whether events without an alarm policy are followed."""
        return self._log is not None or self._reasons is not None

    @property
    def rows(self) -> int:
        """Number of rows of this run."""
        return self._totals()["rows"] - self._before["rows"]

    @property
    def scored(self) -> int:
        """Number of scores of this run."""
        return self._totals()["scored"] - self._before["scored"]

    @property
    def events(self) -> int:
        """Number of events of this run that have ended."""
        return 0 if self._log is None else self._log.count

    def summary(self) -> str:
        """Return the counts of this run."""
        now = {name: count - self._before[name] for name, count in self._totals().items()}
        words = [
            f"{now['rows']} row{'s' if now['rows'] != 1 else ''}", f"{now['scored']} scored",
            f"{now['held']} value{'s' if now['held'] != 1 else ''} held",
            f"{now['refused']} refused", f"{self.unreadable} unreadable",
        ]  # fmt: skip
        for count, one, many in (
            (now["gaps"], "gap in time", "gaps in time"),
            (now["repeated"], "repeated time", "repeated times"),
            (self.unread_times, "unreadable time", "unreadable times"),
        ):
            words += [f"{count} {one if count == 1 else many}"] if count else []
        if self._log is not None:
            words.append(f"{self.events} event{'s' if self.events != 1 else ''}")
            alarms = self._scorer.alarms
            still = len((self._events if alarms is None else alarms.finder).current)
            words += [f"{still} still open"] if still else []
        return ", ".join(words)

    def _push(self, row: Row) -> tuple[StreamResult | None, str]:
        """Return the result of a row, and why it could not be read, if it could not."""
        try:
            if isinstance(row.values, InputError):
                raise row.values
            result = self._scorer.push(row.values, _readable_time(row))
        except StaleError:
            raise
        except InputError as error:
            self.unreadable += 1
            return self._push_missing(row, str(error))
        self.usable += 1
        return result, ""

    def _push_missing(self, row: Row, reason: str) -> tuple[StreamResult | None, str]:
        try:
            missing = [None] * self._scorer.detector.n_features_in_
            return self._scorer.push(missing, _readable_time(row)), reason
        except StaleError as error:
            raise StaleError(f"{reason}; {error}") from None

    def _take_changes(self, *, has_time: bool) -> list[Answer]:
        """Write the events of the alarm policy that are final; return what else has happened."""
        self._has_times = has_time
        if self._scorer.alarms is None:
            return []
        changes = self._scorer.alarms.take()
        if self._reasons is not None:
            changes = [replace(c, event=self._reasons.explained(c.event)) for c in changes]
        for change in changes:
            if change.what == "final":
                self._write(TimedEvent.of(change.event, has_times=has_time))
        return [_change(change) for change in changes if change.what != "final"]

    def _follow(self, result: StreamResult | None, blame: Any, time: Any, *, cleared: bool) -> None:
        """Write the events that end with this row."""
        scores = [math.nan if result is None else result.score]
        cuts = (0,) if cleared else ()
        self._write_final(
            self._events.add(scores, times=[time], cuts=cuts, attribution=lambda _: blame())
        )

    def _write_final(self, changes: list[Change]) -> None:
        for event in (change.event for change in changes if change.what == "final"):
            self._write(TimedEvent(event.plain, event.begins, event.ends))

    def _write(self, found: TimedEvent) -> None:
        if self._reasons is not None and self._scorer.alarms is None:
            found = replace(found, event=self._reasons.explained(found.event))
            short = replace(found, event=replace(found.event, why=None))
            record = {"what": "final"} | event_record(short)
            self._ended.append(record | why_answer(found.event))
        if self._log is not None:
            self._log.write(found)

    def _take_ended(self) -> list[Answer]:
        """Return the events without a policy that have ended since the last call."""
        found, self._ended = self._ended, []
        return found

    def _blame_once(self) -> Any:
        """Return a function for the blame of the last row that computes it at most once."""
        known: list[Attribution] = []

        def blame() -> Attribution:
            if not known:
                known.append(self._scorer.blame())
            return known[0]

        return blame

    def _totals(self) -> dict[str, int]:
        names = ("rows", "scored", "held", "refused", "gaps", "repeated")
        return {name: getattr(self._scorer, name) for name in names}


def _readable_time(row: Row) -> str | float | None:
    """Return the row's time as it came, None if it cannot be read."""
    return None if row.second is None else row.time


def _scores(result: StreamResult) -> Answer:
    answer: Answer = {"score": result.score, "alarm": result.alarm}
    for name, value in result.components.items():
        answer[name] = value if math.isfinite(value) else None
    return answer | ({"held": list(result.held)} if result.held else {})


def _change(change: Change) -> Answer:
    """Return what happened to an event of the alarm policy, as JSON values."""
    event = change.event
    answer: Answer = {
        "what": change.what, "class": event.kind, "number": event.number,
        "severity": event.severity, "start": event.start, "channels": list(event.channels),
    }  # fmt: skip
    answer |= {"reason": event.reason} if event.reason else {}
    answer |= {"gathered": event.gathered} if event.gathered else {}
    if event.kind == DRIFT or (event.kind == ANOMALY and event.reason):
        answer["text"] = drift_sentence(TimedEvent.of(event, has_times=event.begins is not None))
    answer |= {"drift": True} if event.drift else {}
    return answer | why_answer(event)
