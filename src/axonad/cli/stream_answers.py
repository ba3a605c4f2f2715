"""What ``axonad stream`` answers to each row, and what it counts.

Every row is one step. A row that cannot be read counts as a row of missing values, so that no
window spans an unnoticed gap: the answer has an ``error``, and a score if the last values could be
held in its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from axonad.alarmed import TimedEvent
from axonad.alarms.event import ANOMALY, DRIFT, AlarmEvent, Change
from axonad.alarms.machine import TOP
from axonad.cli.event_files import event_record
from axonad.cli.event_log import EventLog
from axonad.cli.stream_lines import Row
from axonad.cli.stream_why import EventReasons, why_answer
from axonad.errors import InputError
from axonad.report.drift_sentence import drift_sentence
from axonad.stream import Session, Step
from axonad.threshold import rank_channels

Answer = dict[str, Any]


class Answers:
    """Scores the rows of one run of the command.

    Parameters
    ----------
    session
        The stream; it may go on from a state.
    log
        File for the events, if they are wanted.
    explain
        Whether events say why they were raised; the session must keep rows.
    """

    def __init__(
        self, session: Session, log: EventLog | None = None, *, explain: bool = False
    ) -> None:
        self.unreadable = self.usable = self.unread_times = 0
        self.first_error = ""
        self._session, self._log = session, log
        self._has_policy = session.detector.alarm_setup_ is not None
        self._reasons = EventReasons(session) if explain else None
        self._has_times = False
        self._before = session.counts()

    def answer(self, row: Row) -> Answer | None:
        """Return the JSON object to write for a row, None while the first window fills."""
        session = self._session
        if self._log is not None:
            self._log.start()
        self.unread_times += row.time is not None and row.second is None
        self._has_times = row.has_time
        step, reason = self._push(row)
        changes = self._tell(step.changes)
        if reason and not self.first_error:
            self.first_error = reason
        score = float(step.scores[0])
        if math.isnan(score) and not reason and not changes:
            return None
        answer: Answer = {"step": step.first}
        if row.has_time:
            answer["time"] = row.time
        if not math.isnan(score):
            answer |= {"score": score, "alarm": score > session.detector.threshold_}
            answer |= {name: _finite(values[0]) for name, values in step.parts.items()}
            answer |= {"held": list(step.held[step.first])} if step.held else {}
            if answer["alarm"] and (found := session.attribution()) is not None:
                names = session.detector.channel_names
                answer["channels"] = list(rank_channels(found, names, top=TOP))
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
        changes = self._tell(self._session.finish())
        if self._reasons is None or not changes:
            return None
        return {"step": self._session.rows - 1, "events": changes}

    @property
    def rows(self) -> int:
        """Number of rows of this run."""
        return self._since("rows")

    @property
    def scored(self) -> int:
        """Number of scores of this run."""
        return self._since("scored")

    @property
    def events(self) -> int:
        """Number of events of this run that have ended."""
        return 0 if self._log is None else self._log.count

    def summary(self) -> str:
        """Return the counts of this run."""
        held = self._since("held")
        words = [
            f"{self.rows} row{'s' if self.rows != 1 else ''}", f"{self.scored} scored",
            f"{held} value{'s' if held != 1 else ''} held",
            f"{self._since('refused')} refused", f"{self.unreadable} unreadable",
        ]  # fmt: skip
        for count, one, many in (
            (self._since("gaps"), "gap in time", "gaps in time"),
            (self._since("repeated"), "repeated time", "repeated times"),
            (self.unread_times, "unreadable time", "unreadable times"),
        ):
            words += [f"{count} {one if count == 1 else many}"] if count else []
        if self._log is not None:
            words.append(f"{self.events} event{'s' if self.events != 1 else ''}")
            still = len(self._session.current)
            words += [f"{still} still open"] if still else []
        return ", ".join(words)

    def _push(self, row: Row) -> tuple[Step, str]:
        """Return what a row gives, and why it cannot be used, if it cannot."""
        time = None if row.second is None else row.time
        try:
            if isinstance(row.values, InputError):
                raise row.values
            step = self._session.push(row.values, time)
        except InputError as error:
            self.unreadable += 1
            missing = [None] * self._session.detector.n_features_in_
            step = self._session.push(missing, time)
            return step, "; ".join([str(error), *(refused.reason for refused in step.refused)])
        if step.refused:
            return step, step.refused[0].reason
        self.usable += 1
        return step, ""

    def _tell(self, changes: Sequence[Change]) -> list[Answer]:
        """Write the events that are final; return what is to be said of the others.

        Without an alarm policy only events that are explained are told, when they have ended.
        """
        answers = []
        for change in changes:
            is_final, event = change.what == "final", change.event
            if not self._has_policy and not is_final:
                continue
            if self._reasons is not None:
                event = self._reasons.explained(event)
            if is_final and self._log is not None:
                self._log.write(self._timed(event))
            if self._has_policy and not is_final:
                answers.append(_change(change.what, event))
            elif not self._has_policy and self._reasons is not None:
                record = event_record(self._timed(replace(event, why=None)))
                answers.append({"what": "final"} | record | why_answer(event))
        return answers

    def _timed(self, event: AlarmEvent) -> TimedEvent:
        timed = TimedEvent.of(event, has_times=self._has_times)
        return timed if self._has_policy else replace(timed, event=event.plain)

    def _since(self, name: str) -> int:
        """Return by how much a count has grown in this run."""
        return self._session.counts()[name] - self._before[name]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _change(what: str, event: AlarmEvent) -> Answer:
    """Return what happened to an event of the alarm policy, as JSON values."""
    answer: Answer = {
        "what": what, "class": event.kind, "number": event.number,
        "severity": event.severity, "start": event.start, "channels": list(event.channels),
    }  # fmt: skip
    answer |= {"reason": event.reason} if event.reason else {}
    answer |= {"gathered": event.gathered} if event.gathered else {}
    if event.kind == DRIFT or (event.kind == ANOMALY and event.reason):
        answer["text"] = drift_sentence(TimedEvent.of(event, has_times=event.begins is not None))
    answer |= {"drift": True} if event.drift else {}
    return answer | why_answer(event)
