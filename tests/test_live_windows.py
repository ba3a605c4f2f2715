"""Live windows: rows appended one by one score as the windows they make up."""

from __future__ import annotations

import numpy as np

from tests.conftest import waves
from tests.fast.cpu.test_live import close


def test_slots_out_of_step_score_like_their_windows(fitted):
    live = fitted.live_windows()
    series = [waves(60, seed=seed) for seed in range(5)]
    ends = [16, 20, 17, 40, 16]
    for slot, (X, end) in enumerate(zip(series, ends, strict=True)):
        live.load(slot, X[end - 16 : end])
    rng = np.random.default_rng(0)
    for _ in range(40):
        some = rng.permutation(5)[: rng.integers(1, 6)].tolist()
        some = [slot for slot in some if ends[slot] < 60]
        if not some:
            continue
        live.append(some, np.stack([series[slot][ends[slot]] for slot in some]))
        for slot in some:
            ends[slot] += 1
        scores, terms = live.score(some)
        for i, slot in enumerate(some):
            expected, parts = fitted.score_ends(series[slot][ends[slot] - 16 : ends[slot]])
            close(scores[i], expected[0])
            for name, values in parts.items():
                close(terms[name][i], values[0])


def test_a_slot_may_be_loaded_again(fitted):
    live, X = fitted.live_windows(), waves(40, seed=3)
    live.load(0, X[:16])
    live.append([0], X[16:17])
    live.load(0, X[20:36])
    live.append([0], X[36:37])
    close(live.score([0])[0], fitted.score_ends(X[21:37])[0])
