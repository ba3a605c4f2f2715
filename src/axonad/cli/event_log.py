"""The file of ``axonad stream --events``: one line per event, appended when it ends."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TextIO

from axonad.alarmed import TimedEvent
from axonad.cli.event_files import (
    ALARM_COLUMNS,
    COLUMNS,
    WHY_COLUMNS,
    event_record,
    why_cells,
)
from axonad.cli.output_files import check_output
from axonad.errors import FileError

ENDINGS = (".csv", ".jsonl", ".json")
STEPS = ("start", "end", "peak")
HEADER = ",".join(COLUMNS)
RECENT = 100  # last lines of a file, whose events are not written again


class EventLog:
    """Appends events to a CSV file or to a file of JSON lines.

    Parameters
    ----------
    path
        File to write, ``.csv``, ``.jsonl`` or ``.json``.
    force
        Whether to replace an existing file.
    resume
        Whether to go on with an existing file: a line cut off by a crash is removed, and the events
        of the last lines are not written again.
    alarms
        Whether the events are those of an alarm policy, with class, severity, reason and the step
        at which they fired.
    explained
        Whether they say why they were raised: JSON lines all of it, CSV as ``axonad score`` does.
    """

    def __init__(
        self,
        path: Path,
        *,
        force: bool = False,
        resume: bool = False,
        alarms: bool = False,
        explained: bool = False,
    ) -> None:
        check_output(path, force=force or resume, endings=ENDINGS)
        self.count = 0
        columns: tuple[str, ...] = ALARM_COLUMNS if alarms else COLUMNS
        self._columns = columns + (WHY_COLUMNS if explained else ())
        self._header = ",".join(self._columns)
        self._path = path
        self._is_csv = path.suffix.lower() == ".csv"
        self._file: TextIO | None = None
        self._whole = b""  # complete lines of an existing file
        if resume and path.exists():
            self._whole = self._read_lines()
        self._known = self._recent()

    def start(self) -> None:
        """Create or mend the file, unless that is done."""
        if self._file is not None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.truncate(len(self._whole))
            self._file = self._path.open("a", encoding="utf-8", newline="")
            if self._is_csv and not self._whole:
                self._append(self._header)
        except OSError as error:
            raise self._error(error) from None

    def write(self, event: TimedEvent) -> None:
        """Append an event; it is on disk when this returns, unless the machine fails."""
        record = event_record(event)
        self.count += 1
        if _identity(record) in self._known:
            return
        self.start()
        try:
            if self._is_csv:
                cells = dict(zip(WHY_COLUMNS, why_cells(event.event.why), strict=True))
                line = _csv_line(record | cells, self._columns)
            else:
                line = json.dumps(record)
            self._append(line)
        except OSError as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")
            self._file.flush()

    def _read_lines(self) -> bytes:
        """Return the complete lines of the file; raise FileError if they are not ours."""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {self._path}: {error.strerror or error}") from None
        first = self._header.encode() + b"\n" if self._is_csv else b'{"from": '
        if content[: len(first)] != first[: len(content)]:
            raise FileError(
                f"{self._path} holds no events of axonad stream; choose another name or pass "
                "--force to replace it"
            )
        return content[: content.rfind(b"\n") + 1]

    def _recent(self) -> set[tuple[Any, ...]]:
        """Return what identifies the events of the last lines in the file."""
        lines = self._whole.decode("utf-8", errors="replace").splitlines()[int(self._is_csv) :]
        found = set()
        for line in lines[-RECENT:]:
            try:
                if self._is_csv:
                    cells = dict(zip(self._columns, next(csv.reader([line])), strict=True))
                else:
                    cells = json.loads(line)
                found.add(_identity(cells))
            except (ValueError, TypeError, KeyError, csv.Error):
                continue  # the file was edited
        return found

    def _error(self, error: OSError) -> FileError:
        return FileError(f"cannot write {self._path}: {error.strerror or error}")


def _identity(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells an event from others: steps, channels and, if it has one, class."""
    channels = record["channels"]
    listed = channels if isinstance(channels, str) else " ".join(channels)
    return (*(int(record[name]) for name in STEPS), listed, record.get("class"))


def _csv_line(record: dict[str, Any], columns: Sequence[str]) -> str:
    text = io.StringIO()
    cells = {**record, "channels": " ".join(record["channels"])}
    if "drift" in record:
        cells["drift"] = str(record["drift"]).lower()
    csv.writer(text, lineterminator="").writerow(cells[name] for name in columns)
    return text.getvalue()
