"""``axonad score --chunk``: a file larger than memory, scored and written part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from axonad import atomic
from axonad.cli.score import score_columns
from axonad.data.readers.chunks import FileChunks
from axonad.detector import Detector
from axonad.progress import Progress, working
from axonad.stream.chunks import EventCollector, EventList, check_chunks, score_chunks

PART = 100_000  # rows gathered before a part is written

Add = Callable[[Mapping[str, Any]], None]


def score_chunked(detector: Detector, file: FileChunks, target: Path) -> EventList:
    """Write the table of scores of a file to ``target`` and return the events in it.

    The file is read twice: once to refuse what cannot be scored before hours were spent on it.
    """
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)  # one bar for all chunks instead of one for each
    with working("checking the file"):
        rows = check_chunks(detector, file)
    events = EventCollector(gap=detector.history // 4)
    first = 0
    with table_parts(target) as add, Progress("scoring", rows) as progress:
        for series, found in score_chunks(detector, file):
            add(score_columns(series, found, first=first))
            events.add(series, found)
            first += len(series)
            progress.advance(len(series))
    return events.finish()


@contextmanager
def table_parts(target: Path) -> Iterator[Add]:
    """Give a function that takes a table part by part; the table appears whole or not at all.

    Parts go to a hidden folder beside the target and are joined when all of them are there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
        folder = Path(name)
        parts: list[Path] = []
        waiting: list[pl.DataFrame] = []
        schemas: list[pl.Schema] = []

        def add(columns: Mapping[str, Any]) -> None:
            waiting.append(pl.DataFrame(dict(columns)))
            if sum(frame.height for frame in waiting) >= PART:
                flush()

        def flush() -> None:
            parts.append(folder / f"{len(parts)}.parquet")
            frame = pl.concat(waiting, how="vertical_relaxed")
            frame.write_parquet(parts[-1])
            waiting.clear()
            if frame.schema not in schemas:
                schemas.append(frame.schema)

        yield add
        if waiting:
            flush()
        whole = pl.scan_parquet(parts, glob=False)
        if len(schemas) > 1:  # a time column without values, or missing some, in some parts only
            scans = [pl.scan_parquet(part, glob=False) for part in parts]
            whole = pl.concat(scans, how="vertical_relaxed")
        with atomic.replacement(target) as temporary:
            if target.suffix.lower() == ".csv":
                whole.sink_csv(temporary)
            else:
                whole.sink_parquet(temporary)
