from __future__ import annotations

import sys

import pytest

from axonad.errors import InputError, MissingDependencyError, UnknownNameError
from axonad.report.critical_difference import draw_critical_difference
from axonad.report.comparison_figures import draw_pairwise, draw_runtime, draw_scatter
from tests.report.rows import make_rows, random_rows

DRAWINGS = {
    "ranks": draw_critical_difference,
    "pairwise": lambda path, rows: draw_pairwise(path, rows=rows, reference="AxonAD"),
    "runtime": draw_runtime,
    "scatter": lambda path, rows: draw_scatter(
        path, rows=rows, published={"s001": 0.5, "s002": 0.4, "s1": 0.3}, detector="AxonAD"
    ),
}


@pytest.mark.parametrize("ending", ["png", "svg"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_the_same_rows_give_the_same_bytes(tmp_path, name, ending):
    rows = random_rows(4)
    one, two = tmp_path / f"new/one.{ending}", tmp_path / f"two.{ending}"
    DRAWINGS[name](one, rows=rows)
    DRAWINGS[name](two, rows=rows[::-1])
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_size > 5000


@pytest.mark.parametrize("name", ["pairwise", "runtime", "scatter"])
def test_a_detector_that_always_failed_is_drawn_as_missing(tmp_path, name):
    rows = make_rows({"AxonAD": [0.5, 0.6, 0.7], "B": [0.1, 0.2, 0.3], "C": [None] * 3})
    DRAWINGS[name](tmp_path / "x.png", rows=rows)
    assert (tmp_path / "x.png").exists()


def test_runtime_of_one_detector_and_of_none_that_finished(tmp_path):
    draw_runtime(tmp_path / "one.png", rows=make_rows({"A": [0.5]}))
    draw_runtime(tmp_path / "none.png", rows=make_rows({"A": [None]}))
    assert (tmp_path / "none.png").exists()


@pytest.mark.parametrize("name", DRAWINGS)
def test_what_cannot_be_drawn(tmp_path, name, monkeypatch):
    with pytest.raises(UnknownNameError, match=r"cannot draw 'x\.gif'"):
        DRAWINGS[name](tmp_path / "x.gif", rows=random_rows(2))
    with pytest.raises(InputError, match="there are no rows"):
        DRAWINGS[name](tmp_path / "x.png", rows=[])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'axonad\[plot\]'"):
        DRAWINGS[name](tmp_path / "x.png", rows=random_rows(2))
