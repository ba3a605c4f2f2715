"""``axonad score --chunk``: score a file larger than memory and write the scores part by part."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from axonad import atomic
from axonad.alarmed import EventList, RecordedEvents
from axonad.alarms.scored import placed_at_end
from axonad.cli.missing_values import say_filled
from axonad.cli.output_files import to_frame
from axonad.cli.score_table import score_columns
from axonad.data.frames import Names
from axonad.data.holding import SeriesFiller
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import DataWarning
from axonad.progress import Progress, working
from axonad.stream.chunks import check_chunks, score_chunks

PART = 100_000  # rows collected in memory before a part is written

AddColumns = Callable[[Mapping[str, Any]], None]


def prepared(
    file: Iterable[Series],
    *,
    keep: Names,
    filler: SeriesFiller | None,
    events: RecordedEvents | None = None,
) -> Iterator[Series]:
    """Yield the chunks of a file with the channels to keep and missing values filled.

    ``events`` see them before values are filled.
    """
    for chunk in file:
        kept = chunk if keep is None else chunk.keep(keep)
        if events is not None:
            events.see(kept)
        yield kept if filler is None else filler.fill(kept)
    if filler is not None:
        say_filled(chunk.name, filler)


def score_chunked(
    detector: Detector,
    chunks: Callable[[RecordedEvents | None], Iterable[Series]],
    target: Path,
    *,
    keep_events: bool = False,
    hold: int = 0,
) -> EventList:
    """Write the score table of a file to ``target`` and return the events in it.

    The file is read twice: the first pass rejects bad input before hours are spent on scoring. If
    the scores of the table are not placed at the end of windows, by which alarms are judged, a
    third pass finds the events. Without ``keep_events`` only the strongest events are returned.
    ``chunks`` gives the chunks, and shows them to the events it is given before values are filled;
    ``hold`` is the number of rows in which they hold missing values.
    """
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)  # one progress bar in all, not one per chunk
    with working("checking the file"):
        checked = check_chunks(detector, chunks(None))
    events = RecordedEvents(detector, hold=hold, keep_all=keep_events)
    judge = detector if detector.alarm_setup_ is None else placed_at_end(detector)
    first = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # said in the first pass
        with table_in_parts(target) as add, Progress("scoring", checked.rows) as progress:
            rows = chunks(events if judge is detector else None)
            for series, found in score_chunks(detector, rows, checked.stretches):
                add(score_columns(series, found, first=first))
                if judge is detector:
                    events.add(found, times=series.times)
                first += len(series)
                progress.advance(len(series))
        if judge is not detector:
            with Progress("finding events", checked.rows) as progress:
                for series, found in score_chunks(judge, chunks(events), checked.stretches):
                    events.add(found, times=series.times)
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
            waiting.append(to_frame(columns))
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
