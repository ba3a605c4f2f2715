"""Plantings of one copy: far enough apart, in stretches, and answered as if each were alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from axonad.registry import make_detector
from axonad.selftest.kinds import KINDS
from axonad.selftest.planting import Ground, Wish, draw_wishes
from axonad.selftest.responses import find_responses, plant
from tests.conftest import waves

DETECTORS = {
    "CrossChannelRidge": {"smooth": 8},
    "KNN": {"window": 6, "units": "soft"},
    "HBOS": {},
}


def ground(rows=900, history=8, **options):
    X = waves(rows)
    stretches = options.pop("stretches", [slice(0, rows)])
    return Ground(X, stretches, history=history, **options)


def copies_of(ground, seed=0, durations=(5, 60)):
    wishes = draw_wishes(tuple(KINDS), range(3), durations, 0, seed)
    return wishes, ground.lay_out(wishes, np.random.default_rng(seed))


@pytest.mark.parametrize("history", [1, 8, 40])
def test_each_wish_is_planted_once_and_responses_do_not_overlap(history):
    wishes, copies = copies_of(ground(history=history))
    planted = [(p.kind, p.channel, p.end - p.start) for copy in copies for p in copy]
    assert sorted(planted) == sorted((w.kind, w.channel, w.rows) for w in wishes)
    for copy in copies:
        assert copy[0].start >= history - 1
        assert copy[-1].end + history - 1 <= 900
        for one, following in pairwise(copy):
            assert one.end + history - 1 <= following.start


def test_plantings_stay_within_stretches_and_quiet_rows():
    quiet = np.ones(900, dtype=bool)
    quiet[500:520] = False
    stretches = [slice(0, 300), slice(310, 900)]
    _, copies = copies_of(ground(quiet=quiet, stretches=stretches), durations=(5, 40))
    assert sum(map(len, copies)) == 24
    for planting in (p for copy in copies for p in copy):
        reached = range(planting.start, planting.end + 7)
        within = range(planting.start - 7, planting.end + 7)
        assert quiet[list(reached)].all()
        assert any(part.start <= within[0] and within[-1] < part.stop for part in stretches)


def test_a_wish_without_a_place_is_left_out():
    long, short = Wish("shifted", 0, 80), Wish("shifted", 1, 10)
    copies = ground(rows=60).lay_out([long, short], np.random.default_rng(0))
    assert [[p.channel for p in copy] for copy in copies] == [[1]]
    assert ground(rows=60).longest == 60 - 2 * 7
    assert ground(rows=12).lay_out([short], np.random.default_rng(0)) == []


@pytest.mark.parametrize("name", DETECTORS)
def test_many_plantings_in_one_copy_answer_as_one_alone_in_the_whole_recording(name):
    detector = make_detector(name, **DETECTORS[name]).fit(waves(200, seed=1))
    history = detector.history

    def score(rows):
        return detector.score_ends(rows)[0]

    area = ground(history=history)
    _, copies = copies_of(area)
    clean = score(area.values)
    for copy in copies:
        sized = [(planting, 4.0 if planting.is_sized else 1.0) for planting in copy]
        together = find_responses(score, area.values, sized, history=history)
        whole = find_responses(score, area.values, sized, history=history, whole=True)
        for one, found, also in zip(sized, together, whole, strict=True):
            alone = score(plant(area.values, [one], first=0, last=900))
            begin = one[0].start - history + 1
            expected = alone[begin : begin + len(found)]
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(also, expected, rtol=1e-9, atol=1e-9)
            rest = np.delete(alone, range(begin, begin + len(found)))
            untouched = np.delete(clean, range(begin, begin + len(found)))
            np.testing.assert_allclose(rest, untouched, rtol=1e-9, atol=1e-9)


def test_durations_of_the_repeats_are_spread_from_the_shortest_to_the_longest():
    rows = [
        wish.rows
        for repeat in range(10)
        for wish in draw_wishes(("noisy",), [0], (5, 320), repeat, 3)
    ]
    assert min(rows) >= 5 and max(rows) <= 320
    counts = np.histogram(np.log2(np.array(rows) / 5), bins=3, range=(0, 6))[0]
    assert counts.min() >= 2
