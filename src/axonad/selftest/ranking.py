"""How well scores tell planted faults from normal rows, without a threshold.

Used to compare detectors with each other: the scales of their scores do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from axonad.data.frames import Matrix
from axonad.selftest.kinds import KINDS, Values
from axonad.selftest.planting import FEWEST, Ground, Planting, draw_wishes
from axonad.selftest.responses import ScoreEnds, find_responses

SIZES = (0.5, 1.0, 2.0)


class Scorer(NamedTuple):
    """Something that scores rows: a detector, or a part of one."""

    score_ends: ScoreEnds  # one score per row with its full history, from that history alone
    history: int  # rows a score needs


def rank_faults(
    scorers: Mapping[str, Scorer],
    X: Matrix,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    sizes: Sequence[float] = SIZES,
    durations: tuple[int, int] | None = None,
    channels: int = 8,
    repeats: int = 4,
    seed: int = 2024,
    skipped: Sequence[int] = (),
    stretches: Sequence[slice] | None = None,
) -> dict[str, dict[str, float]]:
    """Return for each scorer and kind how surely a planted fault scores above normal rows.

    The value is the AUC-ROC of peaks: the probability that the highest score of the rows a fault
    can change is above the highest clean score of as many rows elsewhere. 1 is perfect, 0.5 is
    chance. All scorers see the same faults. Sizes are pooled. A kind for which there was no place
    is left out.

    Parameters
    ----------
    scorers
        What is compared, by name.
    X
        Held-out normal data (time, channels).
    kinds, sizes, repeats, seed
        See :class:`~axonad.selftest.settings.Settings`.
    durations
        Rows of the shortest and longest fault. Default: 5 to two periods, or what there is room
        for.
    channels
        Channels that get a fault of each kind and size in a repeat, drawn among those that move.
    skipped
        Columns that get none.
    stretches
        Runs of rows without a gap between them. Default: all rows are one.
    """
    history = max(scorer.history for scorer in scorers.values())
    ground = Ground(X, stretches or [slice(0, len(X))], history=history)
    shortest, longest = durations or (FEWEST, 2 * ground.period())
    longest = max(1, min(longest, ground.longest))
    rows = min(shortest, longest), longest
    moving = np.setdiff1d(np.flatnonzero(~ground.still), np.array(skipped, dtype=np.int64))
    copies = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, 1 + repeat])
        drawn = rng.choice(moving, size=min(channels, len(moving)), replace=False).tolist()
        copies += ground.lay_out(draw_wishes(kinds, drawn, rows, repeat, seed), rng)
    found = {}
    for name, scorer in scorers.items():
        peaks = [peak for copy in copies for peak in _find_peaks(scorer, X, copy, sizes)]
        clean = scorer.score_ends(X)
        found[name] = {
            kind: _rank([peak for peak in peaks if peak[0].kind == kind], clean, scorer.history)
            for kind in kinds
            if any(planting.kind == kind for planting, _ in peaks)
        }
    return found


def _find_peaks(
    scorer: Scorer, X: Matrix, copy: Sequence[Planting], sizes: Sequence[float]
) -> Iterator[tuple[Planting, float]]:
    """Yield each planting with the highest score it causes, once for each size."""
    for size in sizes:
        is_first = size == sizes[0]
        sized = [(p, size if p.is_sized else 1.0) for p in copy if p.is_sized or is_first]
        responses = find_responses(scorer.score_ends, X, sized, history=scorer.history)
        for (planting, _), response in zip(sized, responses, strict=True):
            yield planting, float(response.max())


def _rank(peaks: Sequence[tuple[Planting, float]], clean: Values, history: int) -> float:
    normal = [float(clean[p.start - history + 1 : p.end].max()) for p, _ in peaks]
    return rank_share(np.array([peak for _, peak in peaks]), np.array(normal))


def rank_share(planted: Values, normal: Values) -> float:
    """Return the share of pairs in which the planted value is higher; a tie counts half.

    >>> rank_share(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    0.625
    """
    normal = np.sort(normal)
    below = np.searchsorted(normal, planted, side="left")
    not_above = np.searchsorted(normal, planted, side="right")
    return float((below + not_above).mean() / 2 / len(normal))
