"""How well scores tell planted faults from normal rows, without a threshold.

Used to compare detectors with each other: the scales of their scores do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axonad.data.frames import Matrix
from axonad.selftest.kinds import KINDS, Values
from axonad.selftest.planting import FEWEST, Ground, draw_wishes
from axonad.selftest.responses import ScoreEnds, find_responses

SIZES = (0.5, 1.0, 2.0)


def rank_faults(
    score_ends: ScoreEnds,
    X: Matrix,
    *,
    history: int,
    kinds: Sequence[str] = tuple(KINDS),
    sizes: Sequence[float] = SIZES,
    durations: tuple[int, int] | None = None,
    repeats: int = 4,
    seed: int = 2024,
) -> dict[str, float]:
    """Return for each kind how surely a planted fault scores higher than normal rows.

    The value is the AUC-ROC of peaks: the probability that the highest score of the rows a fault
    can change is above the highest clean score of as many rows elsewhere. 1 is perfect, 0.5 is
    chance. Every channel that moves gets ``repeats`` faults of each kind and size; sizes are
    pooled. A kind for which there was no place is left out.

    Parameters
    ----------
    score_ends
        Scores an array, one score per row with its full history, from that history alone.
    X
        Held-out normal data (time, channels), without gaps.
    history
        Rows a score needs.
    durations
        Rows of the shortest and longest fault. Default: 5 to two periods.
    """
    ground = Ground(X, [slice(0, len(X))], history=history)
    shortest, longest = durations or (FEWEST, 2 * ground.period())
    longest = max(1, min(longest, ground.longest))
    clean = score_ends(X)
    peaks: dict[str, tuple[list[float], list[float]]] = {kind: ([], []) for kind in kinds}
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, 1 + repeat])
        channels = np.flatnonzero(~ground.still).tolist()
        wishes = draw_wishes(kinds, channels, (min(shortest, longest), longest), repeat, seed)
        for copy in ground.lay_out(wishes, rng):
            for size in sizes:
                sized = [(p, size if p.is_sized else 1.0) for p in copy]
                if size != sizes[0]:
                    sized = [(p, s) for p, s in sized if p.is_sized]
                for (planting, _), found in zip(
                    sized, find_responses(score_ends, X, sized, history=history), strict=True
                ):
                    begin = planting.start - history + 1
                    peaks[planting.kind][0].append(float(found.max()))
                    peaks[planting.kind][1].append(float(clean[begin : begin + len(found)].max()))
    return {
        kind: rank_share(np.array(planted), np.array(normal))
        for kind, (planted, normal) in peaks.items()
        if planted
    }


def rank_share(planted: Values, normal: Values) -> float:
    """Return the share of pairs in which the planted value is higher; a tie counts half.

    >>> rank_share(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    0.625
    """
    normal = np.sort(normal)
    below = np.searchsorted(normal, planted, side="left")
    not_above = np.searchsorted(normal, planted, side="right")
    return float((below + not_above).mean() / 2 / len(normal))
