"""Every kind of fault: what it changes, and where it is no fault."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.selftest.kinds import KINDS, SIZELESS, Place, make_change
from axonad.selftest.planting import Planting
from axonad.selftest.responses import plant
from tests.conftest import waves


def place(column, start=60, end=90, unit=0.7):
    return Place(
        column=column, start=start, end=end, low=0, high=len(column), unit=unit,
        centre=float(np.median(column)),
    )  # fmt: skip


def made(kind, seed=0, **where):
    column = waves(300)[:, 1]
    at = place(column, **where)
    return at, make_change(kind, at, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_named_channel_and_rows_change(kind):
    X = waves(300)
    at, change = made(kind)
    rows = plant(X, [(Planting(kind, 1, at.start, change), 2.0)], first=20, last=200)
    before = X[20:200].copy()
    changed = np.argwhere(rows != before)
    assert len(changed)
    assert set(changed[:, 1]) == {1}
    assert changed[:, 0].min() >= 40 and changed[:, 0].max() < 70
    np.testing.assert_array_equal(X, waves(300), err_msg="the recording itself stays as it is")


def test_what_each_kind_does():
    (at, frozen), (_, shifted), (_, drifting) = (made(k) for k in ("frozen", "shifted", "drifting"))
    np.testing.assert_allclose(at.old + frozen, at.old[0])
    np.testing.assert_allclose(np.abs(shifted), 0.7)
    assert np.ptp(shifted) == 0
    np.testing.assert_allclose(np.abs(drifting), 0.7 * np.arange(1, 31) / 30)
    assert made("noisy", end=260)[1].std() == pytest.approx(0.7, rel=0.2)
    spiking = made("spiking")[1]
    np.testing.assert_allclose(np.abs(spiking[spiking != 0]), [0.7] * 3)
    np.testing.assert_allclose(at.old + made("scaled")[1], 2 * at.old - at.centre)


def test_courses_join_their_neighbours_without_a_jump():
    column = np.sin(np.arange(300) / 9.0) + np.arange(300) / 40
    usual = np.abs(np.diff(column)).max()
    for kind in ("other_course", "reversed"):
        at = place(column, unit=0.1)
        new = at.old + make_change(kind, at, np.random.default_rng(1))
        seams = new[0] - column[at.start - 1], column[at.end] - new[-1]
        assert np.abs(seams).max() <= 1.001 * usual, kind
    np.testing.assert_allclose(new[8:-8], at.old[::-1][8:-8], err_msg="runs backwards")


@pytest.mark.parametrize("kind", [*sorted(SIZELESS), "scaled"])
def test_a_kind_that_would_change_nothing_is_not_planted(kind):
    still = place(np.full(300, 5.0))
    assert make_change(kind, still, np.random.default_rng(0)) is None
    slow = place(np.linspace(0, 1, 300), unit=10.0)
    assert make_change(kind, slow, np.random.default_rng(0)) is None


def test_another_course_comes_from_the_same_stretch_and_not_from_the_fault_itself():
    column = np.where((np.arange(60) >= 20) & (np.arange(60) < 30), 5.0, np.arange(60.0))
    seen = set()
    for seed in range(300):
        at = Place(column=column, start=20, end=30, low=6, high=45, unit=1.0, centre=0.0)
        new = at.old + make_change("other_course", at, np.random.default_rng(seed))
        seen.add(round(float(new[5])) - 5)
    assert seen == {*range(7, 11), *range(30, 35)}
    tight = Place(column=column, start=20, end=30, low=15, high=35, unit=1.0, centre=0.0)
    assert make_change("other_course", tight, np.random.default_rng(0)) is None
