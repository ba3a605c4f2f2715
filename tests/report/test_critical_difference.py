from __future__ import annotations

import itertools

import pytest

from axonad.report.critical_difference import draw_critical_difference
from axonad.report.ranks import rank_detectors
from tests.report.figures import texts
from tests.report.rows import random_rows


def test_names_ranks_and_bars_of_the_diagram(tmp_path, drawn):
    rows = random_rows(6)
    ranking = rank_detectors(rows)
    draw_critical_difference(tmp_path / "x.png", rows=rows)
    (axis,) = drawn[0].axes
    shown = texts(axis)
    for i, (name, rank) in enumerate(zip(ranking.names, ranking.ranks, strict=True)):
        assert (f"{name}  {rank:.2f}" if i < 3 else f"{rank:.2f}  {name}") in shown
    assert f"critical difference {ranking.critical_difference:.2f} (alpha 0.05)" in shown
    bars = [line.get_xdata() for line in axis.lines if line.get_linewidth() == 3.2]
    rank = dict(zip(ranking.names, ranking.ranks, strict=True))
    expected = [(rank[clique[0]] - 0.06, rank[clique[-1]] + 0.06) for clique in ranking.cliques]
    assert len(bars) == len(expected) > 0
    for bar, ends in zip(bars, expected, strict=True):
        assert bar == pytest.approx(ends)
    title = axis.get_title()
    assert title.startswith(f"Average rank by VUS-PR on {ranking.series} series")
    assert "protocol parity" in title


def test_bars_in_one_lane_do_not_touch(tmp_path, drawn):
    draw_critical_difference(tmp_path / "x.png", rows=random_rows(12, 60))
    bars = [line for line in drawn[0].axes[0].lines if line.get_linewidth() == 3.2]
    lanes: dict[float, list] = {}
    for bar in bars:
        lanes.setdefault(bar.get_ydata()[0], []).append(tuple(bar.get_xdata()))
    assert len(bars) > 2
    for spans in lanes.values():
        spans.sort()
        assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))
