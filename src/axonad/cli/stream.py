"""``axonad stream``: read rows from stdin, write scores to stdout as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from axonad import atomic
from axonad.cli import alarm_options
from axonad.cli.event_log import EventLog
from axonad.cli.interrupts import Interrupts
from axonad.cli.missing_channels import missing_in_stream
from axonad.cli.options import (
    AllowMissing,
    Device,
    Force,
    IgnoreExtra,
    MaxHold,
    ModelFolder,
    TimeColumn,
)
from axonad.cli.output_files import check_output
from axonad.cli.stream_answers import Answer, Answers
from axonad.cli.stream_lines import FORMATS, LineReader, read_lines
from axonad.cli.stream_why import rows_to_keep
from axonad.cli.terminal import print_error, print_note, print_status
from axonad.config import check_choice
from axonad.detector import Detector
from axonad.errors import ConfigError, FileError, InputError, ModelFileError
from axonad.modelfile import read_bytes, shown
from axonad.registry import load
from axonad.stream import Session

LARGEST = 2**30  # bytes of a state that is read
SAVE_ROWS = 1_000  # rows after which the state is saved
SAVE_SECONDS = 10.0  # or this long after the last time
UNUSED = 1  # exit code if no row could be used


def stream(
    model: ModelFolder,
    form: Annotated[
        str | None,
        typer.Option("--format", help="Format of the rows: json or csv. Default: by the 1st line."),
    ] = None,
    time: TimeColumn = None,
    ignore_extra: IgnoreExtra = False,
    allow_missing: AllowMissing = False,
    max_hold: MaxHold = None,
    hold_limit: Annotated[int | None, typer.Option(min=0, hidden=True)] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="Resume from this file if it exists, and save the state to it."),
    ] = None,
    save_every: Annotated[
        int,
        typer.Option(
            min=1, help=f"Rows after which the state is saved; also every {SAVE_SECONDS:.0f} s."
        ),
    ] = SAVE_ROWS,
    threshold: alarm_options.Threshold = None,
    alarm_rate: alarm_options.AlarmRate = None,
    events: Annotated[
        Path | None,
        typer.Option(help="Append each event to this .csv or .jsonl file when it has ended."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say of each event which channels broke, and how."),
    ] = False,
    force: Force = False,
    alarms_only: Annotated[
        bool, typer.Option("--alarms-only", help="Write only alarms and errors.")
    ] = False,
    device: Device = None,
) -> None:
    """Score rows from stdin as they arrive; write one JSON line per score to stdout.

    Rows are JSON objects, one per line, or CSV: with a header line of channel names, or plain
    numbers in channel order. The first line decides. A later line that cannot be read counts as a
    row of missing values: its output line has an "error", and the last value of every channel is
    used in its place. Exit code 1 means that rows came and none of them could be used.
    """
    if form is not None:
        check_choice("--format", form, FORMATS)
    detector = _load(model, device)
    alarm_options.apply_threshold(detector, threshold, alarm_rate)
    lines, missing = _stdin_lines(), tuple[str, ...]()
    if allow_missing:
        missing, lines = missing_in_stream(lines, detector.channel_names)
        detector = detector.without(missing)
        alarm_options.apply_threshold(detector, threshold, alarm_rate)
    keep = rows_to_keep(detector) if explain else 0
    is_resumed = state is not None and state.exists()
    session = _start(
        detector, state, hold_limit=hold_limit if max_hold is None else max_hold,
        ignore_extra=ignore_extra, keep=keep, plain_events=events is not None or explain,
    )  # fmt: skip
    with ExitStack() as stack:
        log = None
        if events is not None:
            if state is not None and events.absolute() == state.absolute():
                raise ConfigError(f"--state and --events are both {state}; choose two files")
            log = EventLog(
                events, force=force, resume=is_resumed and not force,
                alarms=detector.alarm_setup_ is not None, explained=explain,
            )  # fmt: skip
            stack.enter_context(log)
        answers = Answers(session, log, explain=explain)
        saver = StateSaver(session, answers, state, every=save_every)
        reader = LineReader(
            detector.channel_names, detector.n_features_in_, form=form, time=time,
            ignore_extra=ignore_extra, left_out=missing,
        )  # fmt: skip
        interrupts = stack.enter_context(Interrupts())
        try:
            for row in reader.read(lines):
                with interrupts.delayed():
                    answer = answers.answer(row)
                if answer is not None and not (alarms_only and _is_quiet(answer)):
                    _write(answer)
                saver.save_sometimes()
            if (answer := answers.finish(goes_on=state is not None)) is not None:
                _write(answer)
        except InputError:  # the header cannot serve; nothing was done
            saver.cancel()
            raise
        finally:
            saver.save()
    _report(answers, session)


class StateSaver:
    """Saves the state of a stream every so many rows or seconds, and at the end."""

    def __init__(
        self, session: Session, answers: Answers, path: Path | None, *, every: int
    ) -> None:
        self._session, self._answers, self._path, self._every = session, answers, path, every
        self._rows, self._events, self._seconds = session.rows, answers.events, monotonic()

    def save_sometimes(self) -> None:
        """Save if it is time to, and after each event; a failure is noted, and the stream goes on.

        An event is in the state until it is in its file, so a resumed stream repeats none.
        """
        if self._path is None:
            return
        rows, events = self._session.rows, self._answers.events
        is_late = monotonic() - self._seconds >= SAVE_SECONDS
        if is_late or rows - self._rows >= self._every or events > self._events:
            try:
                self.save()
            except FileError as error:
                print_note(f"the state was not saved: {error}")
            self._rows, self._events, self._seconds = rows, events, monotonic()

    def cancel(self) -> None:
        """Save nothing from now on."""
        self._path = None

    def save(self) -> None:
        """Save the state; the file is replaced at once, whole."""
        if self._path is not None:
            atomic.write_bytes(self._path, self._session.state(), overwrite=True)


def _write(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer, allow_nan=False) + "\n")
    sys.stdout.flush()


def _is_quiet(answer: Answer) -> bool:
    """Whether an answer is neither an alarm, nor an error, nor news of an event."""
    return not answer.get("alarm", True) and "events" not in answer


def _load(model: Path, device: str | None) -> Detector:
    detector = load(model)
    if device is not None:
        detector.set_params(device=device)
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)
    return detector


def _start(detector: Detector, path: Path | None, **options: Any) -> Session:
    """Return a session that begins, or goes on from a state if its file exists."""
    if path is not None:
        check_output(path, force=True)
    if path is None or not path.exists():
        return Session(detector, **options)
    try:
        session = Session(detector, read_bytes(path, most=LARGEST), **options)
    except ModelFileError as error:
        raise ModelFileError(f"{shown(path)}: {error}") from None
    print_status(f"resuming after row {session.rows}")
    return session


def _stdin_lines() -> Iterator[str]:
    """Yield stdin; bytes that are not valid text are replaced instead of ending the stream."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return read_lines(sys.stdin)


def _report(answers: Answers, session: Session) -> None:
    """Print the counts to stderr; exit with another code if no row could be used."""
    if answers.rows and not answers.usable:
        print_error(
            f"none of the rows could be used ({answers.summary()}); first: {answers.first_error}"
        )
        raise typer.Exit(UNUSED)
    history = session.detector.history
    if session.rows < history:
        print_note(f"got only {session.rows} rows; the first score needs {history}")
    elif answers.rows >= history and not answers.scored:
        print_note(f"no row got a score: it takes {history} rows that follow without a gap")
    print_status(answers.summary())
