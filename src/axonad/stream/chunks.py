"""Scores of a long series chunk by chunk, in bounded memory, with any causal detector.

With any alignment, the score of a step depends on at most ``history - 1`` rows on either side. Each
block is therefore scored together with that many rows around it, and only the steps that have them
are yielded. At both ends of the series, all steps are yielded as the detector scores them.

Scores, components and attributions to channels equal those of the whole series within the tolerance
stated in :mod:`axonad.stream`. Start, end, peak and channels of events are the same unless a score
lies within that tolerance of the threshold, or two scores or two channels' attributions lie that
close together.

Two detectors are exceptions. KNN and LOF recognise the array they were fitted on and exclude each
row from its own neighbours; a chunk of it is new data to them. RandomScore draws by row number, and
in chunks the numbers differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import channel_label
from axonad.data.series import Series
from axonad.data.windows import count_windows
from axonad.detector import Detector
from axonad.errors import InputError
from axonad.explanation import Explanation
from axonad.stream.chunk_values import matched, watched
from axonad.stretches import StretchFinder

PURPOSE = "score in chunks"
Scored = tuple[Series, Explanation]


@dataclass(frozen=True)
class CheckedChunks:
    """Number of rows, and the stretches to score; None if there are no gaps."""

    rows: int
    stretches: list[slice] | None


def check_chunks(detector: Detector, chunks: Iterable[Series]) -> CheckedChunks:
    """Look through all rows before any scoring; raise if the detector cannot score them."""
    detector.check_causal(PURPOSE)
    finder = StretchFinder(window=detector.history, interval=detector.interval_)
    rows, name = 0, "series"
    for chunk in watched(detector, chunks):
        _check_chunk(detector, chunk, rows)
        finder.add(chunk)
        rows, name = rows + len(chunk), chunk.name
    count_windows(rows, detector.history)
    return CheckedChunks(rows, finder.finish(name))


def score_chunks(
    detector: Detector, chunks: Iterable[Series], stretches: list[slice] | None = None
) -> Iterator[Scored]:
    """Yield successive parts of a series, each with the result of ``detector.explain`` for it.

    Chunks may have any length; those shorter than a window are joined first. The parts are cut at
    other rows than the chunks; together they are the whole series. ``stretches`` are those that
    :func:`check_chunks` found; rows outside of them get the score NaN.
    """
    detector.check_causal(PURPOSE)
    empty: Explanation | None = None
    for scored, pieces in _by_stretch(chunks, stretches):
        if scored:
            parts = _score_stretch(detector, pieces)
        else:
            zeros = np.zeros((detector.history, detector.n_features_in_))
            empty = empty or detector.explain(detector.in_context(zeros))
            parts = ((piece, _unscored(empty, len(piece))) for piece in pieces)
        done = 0  # rows of the stretch
        for i, (series, found) in enumerate(parts):
            lead = max(0, detector.lead - done)
            yield series, replace(found, cuts=() if i or stretches is None else (0,), lead=lead)
            done += len(series)


def _by_stretch(
    chunks: Iterable[Series], stretches: list[slice] | None
) -> Iterator[tuple[bool, Iterator[Series]]]:
    """Yield the parts of the chunks in each stretch, and between them; with whether to score."""
    if stretches is None:
        yield True, iter(chunks)
        return
    starts = {part.start for part in stretches}
    edges = sorted({0, *starts, *(part.stop for part in stretches)})

    def pieces() -> Iterator[tuple[int, Series]]:
        first = 0
        for chunk in chunks:
            inner = [edge - first for edge in edges if first < edge < first + len(chunk)]
            for start, stop in pairwise([0, *inner, len(chunk)]):
                yield edges[bisect_right(edges, first + start) - 1], chunk.rows(start, stop)
            first += len(chunk)

    for begin, group in groupby(pieces(), key=lambda piece: piece[0]):
        yield begin in starts, (series for _, series in group)


def _score_stretch(detector: Detector, chunks: Iterable[Series]) -> Iterator[Scored]:
    """Yield the scored parts of a series without gaps."""
    reach = detector.history - 1
    block: list[Series] = []  # rows before the next steps, then new chunks
    yielded = fresh = rows = 0  # rows of the block already yielded, rows not scored yet, all rows
    for chunk in chunks:
        _check_chunk(detector, chunk, rows)
        block.append(chunk)
        rows, fresh = rows + len(chunk), fresh + len(chunk)
        if fresh < detector.history:
            continue
        known = _joined(block)
        stop = len(known) - reach
        yield _part(detector, known, yielded, stop)
        start = max(0, stop - reach)
        block, yielded, fresh = [_joined([known.rows(start)])], stop - start, 0
        del known
    count_windows(rows, detector.history)
    if yielded < sum(map(len, block)):
        yield _part(detector, _joined(block), yielded, None)


def _unscored(like: Explanation, rows: int) -> Explanation:
    """Return the explanation of rows without a score."""
    nan = np.full(rows, np.nan)
    blame = None if like.blame is None else np.full((rows, like.blame.shape[1]), np.nan)
    return replace(like, scores=nan, components=dict.fromkeys(like.components, nan), blame=blame)


def _check_chunk(detector: Detector, chunk: Series, first: int) -> None:
    """Raise for wrong channels and for values that are not finite, with their row in the series."""
    values = matched(detector, chunk)
    bad = ~np.isfinite(values)
    if bad.any():
        row, channel = (int(i) for i in np.argwhere(bad)[0])
        label = channel_label(channel, detector.channel_names or chunk.channels)
        raise InputError(
            f"X has a NaN or infinite value, first at row {first + row}, channel {label}; drop "
            "those rows or fill them (--fill)"
        )


def _part(detector: Detector, known: Series, start: int, stop: int | None) -> Scored:
    # One stretch, checked; its context is in range, so that nothing is said of it once per part.
    found = detector.explain(detector.in_context(matched(detector, known)))
    part = slice(start, stop)
    cut = replace(
        found,
        scores=found.scores[part],
        components={name: values[part] for name, values in found.components.items()},
        blame=None if found.blame is None else found.blame[part],
        scene=None,
    )
    return known.rows(start, stop), cut


def _joined(parts: list[Series]) -> Series:
    """Return the concatenated parts as a copy."""
    return replace(
        parts[0],
        values=np.concatenate([part.values for part in parts]),
        labels=_column([part.labels for part in parts]),
        times=_column([part.times for part in parts]),
        unusable=None,  # a stretch has no such rows
    )


def _column(parts: list[NDArray[Any] | None]) -> Any:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None
