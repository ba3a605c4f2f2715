"""Cut the text of a CSV file into records: lines, or several where a quoted cell has line breaks.

A record ends at a line feed that an even number of quotation marks precedes. Blank lines before the
first and after the last record are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from axonad.data.readers.limits import LONGEST_RECORD
from axonad.data.readers.source import Source, to_utf8
from axonad.errors import FileError

FIRST_BLOCK = 2**20  # bytes; the same for every block size, as the dialect is found in it
FEED, QUOTE = b"\n"[0], b'"'[0]


@dataclass(frozen=True)
class Records:
    """Successive records of a file; each ends with a line feed."""

    text: bytes
    count: int
    line: int  # number of the first one's line in the file, from 1

    @cached_property
    def lines(self) -> list[bytes]:
        """The records one by one, without their line feeds."""
        ends = _record_ends(np.frombuffer(self.text, np.uint8)).tolist()
        starts = [0, *(end + 1 for end in ends[:-1])]
        return [self.text[start:end] for start, end in zip(starts, ends, strict=True)]

    def line_of(self, row: int) -> int:
        """Return the number of the line in which a record begins."""
        return self.line + row + sum(record.count(b"\n") for record in self.lines[:row])

    def cells(self, separator: str) -> NDArray[np.int64]:
        """Return the number of cells of each record."""
        text = np.frombuffer(self.text, np.uint8)
        marks = text == ord(separator)
        if b'"' in self.text:
            marks &= ~_is_quoted(text)
        ends = _record_ends(text)
        starts = np.concatenate([[0], ends[:-1] + 1])
        return np.add.reduceat(marks, starts, dtype=np.int64) + 1


class RecordReader:
    """Reads the records of a source in order.

    Parameters
    ----------
    source
        The text.
    block
        Bytes read at a time.
    """

    def __init__(self, source: Source, block: int) -> None:
        self._source, self._block = source, block
        self._text, self._ends, self._next = b"", np.empty(0, np.int64), 0
        self._start = 0  # of the next record in the text
        self._line = 1
        self._is_end = self._is_begun = False

    def take(self, count: int) -> Records:
        """Return the next ``count`` records, fewer at the end of the file."""
        parts, missing, line = [], count, 0
        while missing and self._fill():
            line = line or self._line
            taken = min(missing, len(self._ends) - self._next)
            parts.append(self._cut(taken))
            missing -= taken
        return Records(to_utf8(b"".join(parts)), count - missing, line)

    def take_block(self) -> Records:
        """Return the records of the next block; none at the end of the file."""
        return self.take(len(self._ends) - self._next if self._fill() else 0)

    def peek(self, count: int) -> list[bytes]:
        """Return the next records of the current block, at most ``count``."""
        self._fill()
        start, found = self._start, []
        for end in self._ends[self._next : self._next + count].tolist():
            found.append(to_utf8(self._text[start:end]))
            start = end + 1
        return found

    def _cut(self, count: int) -> bytes:
        stop = int(self._ends[self._next + count - 1]) + 1
        part = self._text[self._start : stop]
        self._start, self._next = stop, self._next + count
        self._line += part.count(b"\n")
        return part

    def _fill(self) -> bool:
        """Read until there is a record; return whether there is one."""
        while self._next == len(self._ends):
            if self._is_end:
                return False
            rest = self._text[self._start :]
            if len(rest) > LONGEST_RECORD:
                raise self._too_long(rest)
            block = self._block if self._is_begun else FIRST_BLOCK
            new = self._source.read(max(block, len(rest)))  # a long record is not scanned often
            text, self._is_end = rest + new, not new
            if not self._is_begun:
                begin = len(text) - len(text.lstrip(b"\n"))
                self._line += begin
                text = text[begin:]
            self._is_begun = self._is_begun or bool(text)
            self._take_over(text)
        return True

    def _take_over(self, text: bytes) -> None:
        """Find the records of a text; blank lines at its end wait for what follows them."""
        filled = len(text.rstrip(b" \n"))
        if self._is_end and filled:
            text = text[:filled] + b"\n"
        ends = _record_ends(np.frombuffer(text, np.uint8))
        known = int(np.searchsorted(ends, filled)) + 1 if filled else 0  # ends up to the content's
        self._text, self._ends, self._next, self._start = text, ends[:known], 0, 0
        if self._is_end and filled and (not len(ends) or ends[-1] != len(text) - 1):
            start = int(ends[-1]) + 1 if len(ends) else 0
            raise self._too_long(text[start:], line=self._line + text[:start].count(b"\n"))

    def _too_long(self, rest: bytes, *, line: int | None = None) -> FileError:
        line = self._line if line is None else line
        size = f"within {LONGEST_RECORD / 2**20:g} MiB"
        if b'"' in rest:
            end = "before the end of the file" if self._is_end else size
            reason = f'a quotation mark (") that opens in or after line {line} is not closed {end}'
        elif not rest.strip(b" \n"):
            reason = f"the blank lines from line {line} on do not end {size}"
        else:
            reason = f"line {line} does not end {size}"
        return FileError(f"{self._source.shown} cannot be read as CSV: {reason}")


def _record_ends(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the positions of the line feeds outside of quotation marks."""
    feeds = text == FEED
    ends = np.flatnonzero(feeds)
    if not (text == QUOTE).any():
        return ends
    return ends[~_is_quoted(text)[ends]]


def _is_quoted(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return for each byte whether an odd number of quotation marks precedes it."""
    return np.logical_xor.accumulate(text == QUOTE)
