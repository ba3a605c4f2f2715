"""Read files in chunks, for series larger than memory.

A Parquet slice decodes every row group it overlaps, so chunks much smaller than a row group are
slow. CSV, plain or gzipped, is parsed chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from axonad.config import check_int
from axonad.data.readers.asked import Asked
from axonad.data.readers.reading import mark_missing, stream_pieces, warn_of
from axonad.data.readers.request import Request
from axonad.data.readers.table import End
from axonad.data.series import Series


class FileChunks:
    """The series in a CSV or Parquet file as chunks of at most ``size`` rows, in order.

    It can be iterated more than once. From the second complete iteration on, the time column has
    the same type in every chunk, the one it would have if the file were read at once.

    Parameters
    ----------
    path, separator, asked
        As for :func:`axonad.data.readers.read`.
    size
        Largest number of rows in a chunk.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        size: int,
        separator: str | None = None,
        **asked: Any,
    ) -> None:
        check_int("chunk", size, low=1)
        self.path, self.size = Path(path), size
        self._request = Request.of(path, Asked.of(**asked), separator=separator, rows=size)
        self._notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Series]:
        """Yield the chunks; errors name the row in the file."""
        with closing(stream_pieces(self._request)) as pieces:
            for piece in pieces:
                if piece.notes and piece.notes != self._notes:
                    self._notes = piece.notes
                    warn_of(piece.notes)
                if isinstance(piece, End):
                    self._request = replace(self._request, time_kind=piece.time_kind)
                elif self._request.is_recording:
                    yield mark_missing(piece.series)
                else:
                    yield piece.series
