"""Windows kept row by row against windows scored whole."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from axonad import AxonAD, load
from axonad.fast.cpu import live_windows as live_module
from tests.conftest import SMALL, waves


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_slots_out_of_step_score_like_their_windows(fitted):
    live = fitted._live()
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
        live.take(some, np.stack([series[slot][ends[slot]] for slot in some]))
        for slot in some:
            ends[slot] += 1
        scores, terms = live.score(some)
        for i, slot in enumerate(some):
            expected, parts = fitted._score_ends(series[slot][ends[slot] - 16 : ends[slot]])
            close(scores[i], expected[0])
            for name, values in parts.items():
                close(terms[name][i], values[0])


@pytest.mark.parametrize("threads", [1, 2])
def test_more_slots_than_a_pass_holds(fitted, monkeypatch, threads):
    monkeypatch.setattr(live_module, "CPU_BATCH", 3)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    live = fitted._live()
    series = [waves(16, seed=seed) for seed in range(7)]
    for slot, X in enumerate(series):
        live.load(slot, X)
    close(live.score(list(range(7)))[0], [fitted._score_ends(X)[0][0] for X in series])


def test_a_slot_may_be_loaded_again(fitted):
    live, X = fitted._live(), waves(40, seed=3)
    live.load(0, X[:16])
    live.take([0], X[16:17])
    live.load(0, X[20:36])
    live.take([0], X[36:37])
    close(live.score([0])[0], fitted._score_ends(X[21:37])[0])


def by_pickle(detector):
    return pickle.loads(pickle.dumps(detector))  # noqa: S301


@pytest.mark.parametrize("duplicate", [copy.deepcopy, by_pickle])
def test_tables_are_shared_and_never_copied(duplicate):
    detector = AxonAD(**SMALL).fit(waves(100))
    live = detector._live()
    assert detector._live(live) is live
    assert detector._live().net is live.net
    twin = duplicate(detector)
    assert not hasattr(twin, "_tables")
    assert twin._live(live) is not live


def test_streams_of_one_detector_share_their_working_memory():
    detector = AxonAD(**SMALL).fit(waves(100))
    X = waves(40, seed=3)
    streams = [detector._live() for _ in range(5)]
    for i, live in enumerate(streams):
        live.load(0, X[i : i + 16])
    scores = [live.score([0])[0][0] for live in streams]
    assert len(streams[0].net.idle) == 1
    close(scores, detector._score_ends(X[:20])[0])


def test_a_loaded_detector_scores_as_the_saved_one(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    live, X = load(tmp_path / "model")._live(), waves(16, seed=5)
    live.load(0, X)
    scores, terms = live.score([0])
    assert scores.shape == terms["d_q"].shape == (1,)
    close(scores, fitted._score_ends(X)[0])


def test_a_new_fit_makes_new_tables():
    detector = AxonAD(**SMALL).fit(waves(100))
    live = detector._live()
    detector.fit(waves(120, seed=4))
    fresh = detector._live(live)
    assert fresh is not live
    X = waves(16, seed=5)
    fresh.load(0, X)
    close(fresh.score([0])[0], detector._score_ends(X)[0])
