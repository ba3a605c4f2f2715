"""Fewer points, the same peaks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from axonad.report.page.decimation import (
    bucket_edges,
    envelope,
    thin,
    thin_positions,
    with_breaks,
)

VALUES = st.one_of(st.floats(-1e6, 1e6), st.just(np.nan))


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.integers(2, 200), elements=VALUES), st.integers(2, 50),
    st.lists(st.integers(0, 250), max_size=4),
)  # fmt: skip
def test_every_bucket_keeps_its_extremes_in_their_order(values, most, cuts):
    edges = bucket_edges(len(values), most, cuts)
    found = thin(values, edges).reshape(-1, 2)
    upper = envelope(values, edges, upper=True).reshape(-1, 2)
    assert edges[0] == 0
    assert edges[-1] == len(values)
    assert (np.diff(edges) > 0).all()
    assert len(found) <= most / 2 + len(cuts) + 1
    assert set(edges.tolist()) >= {cut for cut in cuts if 0 < cut < len(values)}
    for i, (start, stop) in enumerate(pairwise(edges)):
        part = values[start:stop]
        if np.isnan(part).all():
            assert np.isnan(found[i]).all()
            continue
        low, high = np.nanargmin(part), np.nanargmax(part)
        assert found[i].tolist() == [part[min(low, high)], part[max(low, high)]]
        assert upper[i].tolist() == [part[high], part[high]]


def test_positions_rise_and_reach_both_ends():
    x = np.arange(1000.0)
    found = thin_positions(x, bucket_edges(1000, 64))
    assert len(found) == 64
    assert (np.diff(found) >= 0).all()
    assert (found[0], found[-1]) == (0, 999)


def test_a_break_interrupts_all_columns():
    x, values = with_breaks(np.arange(4.0), [np.ones(4)], [0, 2, 4])
    assert x.tolist() == [0, 1, 1.5, 2, 3]
    assert np.isnan(values).tolist() == [False, False, True, False, False]
