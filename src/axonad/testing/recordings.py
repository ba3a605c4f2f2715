"""The check that a detector keeps recordings apart."""

from __future__ import annotations

import numpy as np

from axonad.errors import InputError
from axonad.testing.requirements import Make, example, require, require_equal

JUMP = 100.0  # between two recordings, in units of their own movement
BESIDE = 40  # rows on both sides of the seam
EXCESS = 3.0  # how far scores beside the seam may rise above the median, compared with all others


def recordings_are_kept_apart(make: Make) -> None:
    """One recording in a list is learned from as it is; no window reaches from one to the next.

    The second of two recordings lies far from the first, so a window with rows of both would stand
    out from all others. A detector may also refuse several recordings.
    """
    first = example(rows=160)
    second = example(rows=160, seed=1)
    second[:, 0] += JUMP
    alone, listed = make().fit(first), make().fit([first])
    same = "a list with one recording gave other scores than the recording"
    require_equal(alone.decision_scores_, listed.decision_scores_, same)
    joined = np.concatenate([first, second])
    try:
        apart = make().fit([first, second])
    except InputError as error:
        require("recording" in str(error), f"two recordings were refused without a reason: {error}")
        return
    scores, history = apart.decision_scores_, apart.history
    require(len(scores) == len(joined), "two recordings did not give one score for each row")
    if history == 1:
        return
    together = make().fit(joined)
    differs = not np.array_equal(scores, together.decision_scores_)
    require(differs, "two recordings were learned from as if they were one")
    beside = np.abs(np.arange(len(joined)) - len(first) + 0.5) < min(history, BESIDE)
    level = np.median(scores)
    highest = EXCESS * (scores[~beside].max() - level)
    require(bool(scores[beside].max() - level <= highest), "scores rise where recordings meet")
