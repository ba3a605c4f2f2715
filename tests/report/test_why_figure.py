from __future__ import annotations

import numpy as np

from axonad.explain import BrokenRelation, Counterfactual, Course, Why
from axonad.report.why_figure import draw_why

NAME = "<b>$\\frac{1}$"


def made(*, broken: bool = True) -> Why:
    rows = np.arange(20.0)
    course = Course(NAME, 100, rows, rows + 1, rows, rows + 2)
    relation = BrokenRelation(NAME, ("a",), 3.0, f"{NAME} given a", rows, rows, rows, rows + 5)
    found = Counterfactual((NAME,), True, 9.0, 1.0, 1)
    relations = (relation,) if broken else ()
    return Why((NAME,), "shifted", f"{NAME} is shifted", (course,), relations, found, (105, 110))


def test_courses_band_rows_and_scatter(tmp_path, drawn):
    draw_why(tmp_path / "x.png", made())
    (figure,) = drawn
    course, scatter = figure.axes
    assert [line.get_label() for line in course.lines] == ["expected, with band", "actual"]
    np.testing.assert_array_equal(course.lines[1].get_xdata(), np.arange(100, 120))
    assert len(scatter.collections) == 2
    assert scatter.get_xlabel() == "predicted"


def test_names_are_no_mathematics_and_relations_may_be_missing(tmp_path, drawn):
    draw_why(tmp_path / "x.svg", made(broken=False))
    (figure,) = drawn
    assert len(figure.axes) == 1
    figure.draw_without_rendering()  # a name taken for mathematics would raise an error
