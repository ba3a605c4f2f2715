"""The file of ``axonad stream --events``: one line per event, appended when it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Self

from axonad.cli.output_files import check_output
from axonad.errors import FileError
from axonad.stream.live_events import LiveEvent

ENDINGS = (".csv", ".jsonl", ".json")
COLUMNS = ("from", "to", "start", "end", "peak", "score", "channels")
HEADER = ",".join(COLUMNS)


class EventLog:
    """Appends events to a CSV file or to a file of JSON lines.

    Parameters
    ----------
    path
        File to write, ``.csv``, ``.jsonl`` or ``.json``.
    force
        Whether to replace an existing file.
    resume
        Whether to go on with an existing file: a line cut off by a crash is removed, and the event
        of the last line is not written again.
    """

    def __init__(self, path: Path, *, force: bool = False, resume: bool = False) -> None:
        check_output(path, force=force or resume, endings=ENDINGS)
        self.count = 0
        self._path = path
        self._is_csv = path.suffix.lower() == ".csv"
        self._last: tuple[int, ...] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if resume and path.exists():
                self._last = self._mend()
            else:
                path.write_bytes(b"")
            self._file = path.open("a", encoding="utf-8", newline="")
            if self._is_csv and path.stat().st_size == 0:
                self._append(HEADER)
        except FileError:
            raise
        except OSError as error:
            raise self._error(error) from None

    def write(self, found: LiveEvent) -> None:
        """Append an event; it is on disk when this returns, unless the machine fails."""
        event = found.event
        steps = (event.start, event.end, event.peak)
        self.count += 1
        if steps == self._last:
            return
        begins, ends = found.begins, found.ends
        values = (
            event.start if begins is None else begins, event.end - 1 if ends is None else ends,
            *steps, event.score, list(event.channels),
        )  # fmt: skip
        fields = dict(zip(COLUMNS, values, strict=True))
        try:
            self._append(self._row(fields) if self._is_csv else json.dumps(fields))
        except OSError as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def _row(self, fields: dict[str, Any]) -> str:
        text = io.StringIO()
        cells = {**fields, "channels": ";".join(fields["channels"])}
        csv.writer(text, lineterminator="").writerow(cells.values())
        return text.getvalue()

    def _mend(self) -> tuple[int, ...] | None:
        """Remove a line that was cut off; return start, end and peak of the last event."""
        content = self._path.read_bytes()
        first = HEADER.encode() + b"\n" if self._is_csv else b'{"from": '
        if content[: len(first)] != first[: len(content)]:
            raise FileError(
                f"{self._path} holds no events of axonad stream; choose another name or pass "
                "--force to replace it"
            )
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self._path.open("rb+") as file:
                file.truncate(len(whole))
        lines = whole.decode("utf-8", errors="replace").splitlines()[int(self._is_csv) :]
        if not lines:
            return None
        try:
            if self._is_csv:
                cells = dict(zip(COLUMNS, next(csv.reader(lines[-1:])), strict=True))
            else:
                cells = json.loads(lines[-1])
            return tuple(int(cells[name]) for name in ("start", "end", "peak"))
        except (ValueError, TypeError, KeyError, csv.Error):
            return None  # the file was edited

    def _error(self, error: OSError) -> FileError:
        return FileError(f"cannot write {self._path}: {error.strerror or error}")
