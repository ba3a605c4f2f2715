"""Events counted for whole arrays at once: the fast twin of the state machine, without channels.

Calibration counts events at hundreds of thresholds. Tests compare start, end and number of events
with those of :class:`~axonad.alarms.machine.AlarmMachine`, which they equal exactly.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.machine import AdaptiveThreshold
from axonad.alarms.policy import AlarmPolicy

Rows = NDArray[np.int64]


def find_segments(
    scores: NDArray[np.float64], policy: AlarmPolicy, *, cuts: Iterable[int] = ()
) -> tuple[Rows, Rows]:
    """Return first rows of events and the rows after their last ones.

    Channels are not known here, so ``cause_gap`` has no effect.
    """
    starts, ends, part = _find_firing(scores, policy, cuts)
    if len(starts) == 0:
        return starts, ends
    apart = (starts[1:] - ends[:-1] > policy.merge_gap) | (np.diff(part) > 0)
    return starts[np.append(True, apart)], ends[np.append(apart, True)]


def firing_rows(
    scores: NDArray[np.float64], policy: AlarmPolicy, *, cuts: Iterable[int] = ()
) -> NDArray[np.bool_]:
    """Return which rows an event fires in; rows between two merged parts of one do not count.

    Rows in which an event was pending count if it fired.
    """
    change = np.zeros(len(scores) + 1, dtype=np.int64)
    starts, ends, _ = _find_firing(scores, policy, cuts)
    change[starts] += 1
    change[ends] -= 1
    return np.cumsum(change[:-1]) > 0


def count_events(
    scores: NDArray[np.float64], policy: AlarmPolicy, *, cuts: Iterable[int] = ()
) -> int:
    """Return the number of events that fire."""
    return len(find_segments(scores, policy, cuts=cuts)[0])


def _find_firing(
    scores: NDArray[np.float64], policy: AlarmPolicy, cuts: Iterable[int]
) -> tuple[Rows, Rows, Rows]:
    """Return starts and ends of the times an event fires, before any are merged.

    The third array numbers the part between cuts and NaN that each lies in.
    """
    none = np.empty(0, dtype=np.int64)
    if policy.rise:
        scores = scores - AdaptiveThreshold(policy).push_many(scores)
    edges = np.array(sorted(set(cuts)), dtype=np.int64)
    hot = np.flatnonzero(scores > policy.release)
    if len(hot) == 0:
        return none, none, none
    # Number of the part without NaN and cuts that each row above the end threshold lies in, and
    # where that part ends.
    walls = np.union1d(edges, np.flatnonzero(np.isnan(scores)))
    part = np.searchsorted(walls, hot, side="right")
    limits = np.append(walls, len(scores))[part]
    # Blocks: rows at most keep_firing apart, over which a firing event would go on.
    is_new = np.append(True, (np.diff(hot) > policy.keep_firing + 1) | (np.diff(part) > 0))
    block = np.cumsum(is_new) - 1
    # Runs above the start threshold that are long enough; the first of a block begins the event.
    over = np.flatnonzero(scores[hot] > policy.start)
    if len(over) == 0:
        return none, none, none
    begins = np.append(True, (np.diff(hot[over]) > 1) | (np.diff(part[over]) > 0))
    firsts = np.flatnonzero(begins)
    lengths = np.diff(np.append(firsts, len(over)))
    firsts = over[firsts[lengths >= policy.min_duration]]
    fired, index = np.unique(block[firsts], return_index=True)
    starts = hot[firsts[index]]
    lasts = np.append(np.flatnonzero(is_new)[1:] - 1, len(hot) - 1)[fired]
    ends = np.minimum(hot[lasts] + 1 + policy.keep_firing, limits[lasts])
    return starts, ends, part[lasts]
