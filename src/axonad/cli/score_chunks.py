"""``axonad score --chunk``: score a file larger than memory and write the scores part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from axonad import atomic
from axonad.cli.score_table import score_columns
from axonad.data.readers.chunks import FileChunks
from axonad.detector import Detector
from axonad.progress import Progress, working
from axonad.stream.chunks import EventCollector, EventList, check_chunks, score_chunks

PART = 100_000  # rows collected in memory before a part is written

AddColumns = Callable[[Mapping[str, Any]], None]


def score_chunked(detector: Detector, file: FileChunks, target: Path) -> EventList:
    """Write the score table of a file to ``target`` and return the events in it.

    The file is read twice: the first pass rejects bad input before hours are spent on scoring.
    """
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)  # one progress bar in all, not one per chunk
    with working("checking the file"):
        rows = check_chunks(detector, file)
    events = EventCollector(gap=detector.history // 4)
    first = 0
    with table_in_parts(target) as add, Progress("scoring", rows) as progress:
        for series, found in score_chunks(detector, file):
            add(score_columns(series, found, first=first))
            events.add(series, found)
            first += len(series)
            progress.advance(len(series))
    return events.finish()


@contextmanager
def table_in_parts(target: Path) -> Iterator[AddColumns]:
    """Yield a function that adds rows to a table; ``target`` appears only once it is complete.

    Parts go to a hidden folder beside the target and are joined at the end.
    """
    with atomic.parts_folder(target) as folder:
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
            with atomic.writing(target):
                frame.write_parquet(parts[-1])
            waiting.clear()
            if frame.schema not in schemas:
                schemas.append(frame.schema)

        yield add
        if waiting:
            flush()
        whole = pl.scan_parquet(parts, glob=False)
        if len(schemas) > 1:  # the time column has missing values in some parts only
            scans = [pl.scan_parquet(part, glob=False) for part in parts]
            whole = pl.concat(scans, how="vertical_relaxed")
        sink = whole.sink_csv if target.suffix.lower() == ".csv" else whole.sink_parquet
        with atomic.replacement(target) as temporary:
            sink(temporary)
