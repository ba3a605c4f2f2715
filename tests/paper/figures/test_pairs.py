from __future__ import annotations

import pytest

from axonad.errors import InputError
from axonad.paper.figures.pairs import complete_rows, draw_paper_pairs
from axonad.paper.published import paper_pairs
from tests.report.figures import lines, names_on_y
from tests.report.rows import make_rows

SERIES = {"AxonAD": [0.6, 0.8, 0.7, 0.9], "USAD": [0.5, 0.9, 0.3, 0.2], "CNN": [None, 0.95, None]}


def test_only_detectors_with_all_series_are_drawn_beside_the_papers_numbers(tmp_path, drawn):
    draw_paper_pairs(tmp_path / "pairs.svg", make_rows(SERIES), protocol="parity")
    (figure,) = drawn
    left, right = figure.axes
    assert names_on_y(left) == ["USAD"]
    assert figure.get_suptitle().endswith("1 detectors without all series are not shown.")
    paper = paper_pairs()["USAD", "AUC-PR"]
    assert lines(left, "paper: share of wins") == [([4 * paper.win_rate], [0])]
    assert lines(right, "paper: median") == [([paper.median], [0])]


def test_axonad_must_have_all_series(tmp_path):
    rows = make_rows({"AxonAD": [0.1, None], "PCA": [0.1, 0.2]})
    with pytest.raises(InputError, match="nothing to compare with"):
        draw_paper_pairs(tmp_path / "x.png", rows, protocol="parity")


def test_complete_rows():
    whole, lacking = complete_rows(make_rows(SERIES), metric="AUC-PR")
    assert {row.label for row in whole} == {"AxonAD", "USAD"}
    assert lacking == ["CNN"]
