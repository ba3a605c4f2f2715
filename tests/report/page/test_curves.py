"""The curves of a page: all rows while there is room, then every peak."""

from __future__ import annotations

import numpy as np

from axonad.data.series import Series
from axonad.report.page.axis import Axis
from axonad.report.page.curves import (
    FEWEST,
    MOST_KEPT,
    plain_curves,
    points_within,
    thinned,
)
from axonad.threshold import Event
from tests.report.page.pages import curve


def made(rows):
    return curve("a", np.arange(float(rows)), seed=1, fault=slice(10, 20))


def test_short_curves_keep_all_their_rows():
    short = made(500)
    assert points_within([short] * 10) == MOST_KEPT
    assert thinned(short, 500) is short


def test_long_curves_give_way_first_and_keep_their_peaks():
    many = [made(500)] * 100 + [made(10_000)] * 10
    most = points_within(many, budget=800_000)
    assert 500 < most < 10_000
    long = many[-1]
    long.actual[7777] = 99.0
    small = thinned(long, most)
    assert len(small.x) <= most
    assert small.actual.max() == 99.0
    assert small.low.min() == long.low.min()
    assert (small.low <= small.high).all()


def test_no_curve_has_fewer_points_than_a_picture_needs():
    assert points_within([made(10_000)] * 50, budget=10) == FEWEST


def test_without_an_explanation_the_blamed_channels_are_shown():
    values = np.arange(200.0)[:, None] * [1, 10]
    series = Series(values=values, channels=("a", "b"), times=np.arange(200) / 10)
    event = Event(100, 110, 105, 3.0, ("b", "gone"))
    (only,) = plain_curves(series, event, Axis.of(series.times, 200), history=30)
    assert only.name == "b"
    assert not only.has_expectation
    assert only.x[[0, -1]].tolist() == [7.0, 13.9]
    assert only.actual[0] == 700
    assert only.x.base is None
