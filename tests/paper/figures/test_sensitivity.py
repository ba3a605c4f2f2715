from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.figures.sensitivity import draw_sensitivity
from axonad.paper.published import paper_sensitivity
from axonad.paper.tables.sensitivity import METRICS, SWEPT, sensitivity
from tests.paper.tables.test_sensitivity import grid
from tests.report.figures import legend, lines


def test_every_parameter_has_a_panel_with_our_curves_and_the_papers(tmp_path, drawn):
    rows = grid(("base", "horizon-3", "tail-3", "window-50"))
    draw_sensitivity(tmp_path / "a.svg", rows=rows)
    (figure,) = drawn
    assert [axis.get_xlabel() for axis in figure.axes] == list(SWEPT.values())
    for axis, parameter in zip(figure.axes, SWEPT, strict=True):
        for metric, band in zip(METRICS, axis.collections, strict=True):
            points = sensitivity(rows, parameter=parameter, metric=metric)
            expected = [p.value for p in points], [p.mean for p in points]
            assert lines(axis, metric) == [expected]
            height = np.ptp(band.get_paths()[0].vertices[:, 1])
            bounds = [p.mean + sign * p.std for p in points for sign in (-1, 1)]
            assert height == pytest.approx(max(bounds) - min(bounds))
    paper = {v: m["VUS-PR"] for (name, v), m in paper_sensitivity().items() if name == "tail"}
    assert lines(figure.axes[1], "VUS-PR, paper") == [(list(paper), list(paper.values()))]
    assert legend(figure)[:2] == ["AUC-PR", "AUC-PR, paper"]


def test_one_seed_has_no_band(tmp_path, drawn):
    draw_sensitivity(tmp_path / "x.png", rows=grid(("base", "tail-3"), seeds=(1,)))
    (axis,) = drawn[0].axes
    ((_, means),) = lines(axis, "AUC-PR")
    assert set(axis.collections[0].get_paths()[0].vertices[:, 1]) == set(means)


def test_rows_without_a_curve_are_refused(tmp_path):
    with pytest.raises(InputError, match="no parameter has two values"):
        draw_sensitivity(tmp_path / "a.png", rows=grid(("base",)))
