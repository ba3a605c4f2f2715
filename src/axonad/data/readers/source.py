"""The text of a CSV file as UTF-8 with line feeds, whatever its encoding and line ends."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Self, cast

from axonad.errors import FileError, InputError

SAMPLE = 2**16  # bytes that show encoding and line ends
MARKS = (
    (codecs.BOM_UTF8, None),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # byte order marks; that of UTF-32 begins with that of UTF-16


class Source:
    """A CSV file, plain or gzipped, or the bytes of one, read block by block.

    Parameters
    ----------
    origin
        Path of the file, or its content.
    shown
        The path as the user gave it, for messages.
    """

    def __init__(self, origin: Path | bytes, shown: str) -> None:
        self.shown = shown
        self._file = self._open(origin)
        sample = self._raw(SAMPLE)
        if not sample:
            self.close()
            raise InputError(f"{self.shown} is empty; expected a header line and rows")
        mark, encoding = next((pair for pair in MARKS if sample.startswith(pair[0])), (b"", None))
        self._decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
        self._ready = self._text(sample[len(mark) :])
        if b"\0" in self._ready:
            self.close()
            raise FileError(
                f"{self.shown} cannot be read as CSV: it holds NUL bytes; expected text in UTF-8, "
                "Latin-1, or UTF-16 with a byte order mark"
            )
        self._has_bare_returns = b"\n" not in self._ready and b"\r" in self._ready.rstrip(b"\r")
        self._return = b""  # a carriage return whose line feed may be in the next block

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int) -> bytes:
        """Return about ``size`` bytes of text, nothing at the end of the file."""
        while True:
            text, self._ready = self._ready, b""
            raw = self._raw(size) if len(text) < size else b""
            is_end = len(text) < size and not raw
            text = self._return + text + self._text(raw, is_end=is_end)
            self._return = b""
            if text.endswith(b"\r") and not is_end:
                text, self._return = text[:-1], b"\r"
            if b"\r" in text:
                text = text.replace(b"\r\n", b"\n")
                text = text.replace(b"\r", b"\n") if self._has_bare_returns else text
            if text or is_end:
                return text

    def _open(self, origin: Path | bytes) -> IO[bytes]:
        if isinstance(origin, bytes):
            return io.BytesIO(origin)
        try:
            if origin.name.lower().endswith(".gz"):
                return cast("IO[bytes]", gzip.open(origin, "rb"))
            return origin.open("rb")
        except OSError as error:
            raise FileError(f"{self.shown} cannot be read: {error.strerror}") from None

    def _raw(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise FileError(f"{self.shown} cannot be read as CSV: {error}") from None
        except OSError as error:
            raise FileError(f"{self.shown} cannot be read: {error.strerror}") from None

    def _text(self, raw: bytes, *, is_end: bool = False) -> bytes:
        if self._decoder is None:
            return raw
        try:
            return self._decoder.decode(raw, final=is_end).encode()
        except UnicodeError as error:
            raise FileError(f"{self.shown} cannot be read as CSV: {error}") from None


def to_utf8(text: bytes) -> bytes:
    r"""Return the text with every line that is not UTF-8 read as Latin-1.

    >>> to_utf8(b"oil \xb0C\n").decode()
    'oil °C\n'
    """
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        return b"\n".join(map(_line_to_utf8, text.split(b"\n")))
    return text


def _line_to_utf8(line: bytes) -> bytes:
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1").encode()
    return line
