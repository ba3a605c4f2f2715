from __future__ import annotations

import pytest

from axonad.paper.figures.transfer import draw_transfer
from tests.paper.tables.test_transfer import make_transfer
from tests.report.figures import texts


def test_both_distances_are_sorted_with_the_target_marked(tmp_path, drawn):
    found = make_transfer()
    draw_transfer(tmp_path / "x.png", found=found, among="TSB-AD")
    (figure,) = drawn
    assert figure.get_suptitle() == "set_2 among 7 of TSB-AD"
    shown = {place.name: place for place in found.ranking}["set_2"]
    for axis, name, percentile in zip(
        figure.axes,
        ("mahalanobis", "neighbour_distance"),
        (found.mahalanobis_percentile, found.neighbour_percentile),
        strict=True,
    ):
        every, target = axis.lines
        assert list(every.get_xdata()) == sorted(getattr(place, name) for place in found.ranking)
        assert target.get_xdata() == pytest.approx([getattr(shown, name)])
        assert texts(axis) == [f"set_2\npercentile {percentile:.0f}"]
