from __future__ import annotations

import pytest

from axonad.report.comparison_figures import draw_pairwise, draw_runtime, draw_scatter
from tests.report.figures import legend, lines, names_on_y, texts
from tests.report.rows import make_row, make_rows

ROWS = make_rows({"AxonAD": [0.5, 0.6, 0.7], "B": [0.1, 0.2, 0.7], "C": [None] * 3})


def test_pairwise_shows_wins_ties_losses_and_medians(tmp_path, drawn):
    rows = make_rows({"A": [0.5, 0.5, 0.5, 0.5], "B": [0.7, 0.6, 0.5, 0.1], "C": [0.1] * 4})
    draw_pairwise(tmp_path / "x.png", rows=rows, reference="A", published={"B": (0.25, -0.1)})
    (figure,) = drawn
    left, right = figure.axes
    assert names_on_y(left) == ["B", "C"]
    assert set(legend(figure)) == {
        "detector wins", "ties", "A wins", "paper: share of wins", "paper: median",
    }  # fmt: skip
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in left.containers}
    assert widths == {"detector wins": [2, 0], "ties": [1, 0], "A wins": [1, 4]}
    assert left.get_xlim() == (0, 4)
    assert right.lines[0].get_xdata() == pytest.approx([0.05, -0.4]), "median differences"
    assert lines(left, "paper: share of wins") == [([1.0], [0])], "a quarter of our 4 series"
    assert lines(right, "paper: median") == [([-0.1], [0])]
    assert figure.get_suptitle().startswith("VUS-PR: every detector against A\nSuite made-up;")


def test_a_detector_without_series_is_named_in_the_title(tmp_path, drawn):
    draw_pairwise(tmp_path / "x.png", rows=ROWS, reference="AxonAD", note=" A note.")
    assert names_on_y(drawn[0].axes[0]) == ["B"]
    title = drawn[0].get_suptitle()
    assert "not shown, too few series: C\n" in title
    assert title.endswith("A note.")


def test_runtime_shows_times_beside_quality_best_first(tmp_path, drawn):
    rows = [
        make_row("slow", "s0", 0.9, fit_seconds=20.0, score_seconds=2.0, device="cuda:0"),
        make_row("fast", "s0", 0.3, fit_seconds=0.5, score_seconds=1e-6),
        make_row("none", "s0", None),
    ]
    draw_runtime(tmp_path / "x.png", rows=rows)
    (figure,) = drawn
    left, right = figure.axes
    assert names_on_y(left) == ["slow", "fast", "none"]
    assert lines(left, "fit")[0][0][:2] == [20.0, 0.5]
    assert lines(left, "score")[0][0][:2] == [2.0, 1e-3], "cut off at a millisecond"
    assert left.get_xscale() == "log"
    assert [bar.get_width() for bar in right.patches] == [0.9, 0.3, 0]
    assert texts(right) == ["0.900", "0.300", "–"]
    assert "Run on cpu; cuda:0." in figure.get_suptitle()


def test_runtime_of_detectors_that_all_failed(tmp_path, drawn):
    draw_runtime(tmp_path / "x.png", rows=make_rows({"A": [None]}))
    assert texts(drawn[0].axes[1]) == ["–"]


def test_scatter_has_a_point_per_series_and_a_colour_per_data_set(tmp_path, drawn):
    rows = make_rows({"A": [0.5, 0.6, 0.7, None]}, datasets=["X", "X", "Y", "Y"])
    draw_scatter(tmp_path / "x.png", rows=rows, published={"s0": 0.4, "s1": 0.8, "s2": 0.9})
    (figure,) = drawn
    (axis,) = figure.axes
    assert lines(axis, "X (2)") == [([0.4, 0.8], [0.5, 0.6])]
    assert lines(axis, "Y (1)") == [([0.9], [0.7])]
    assert axis.get_title().splitlines() == [
        "A: mean |difference| 0.167 on 3 series", "ours 0.600, published 0.700",
    ]  # fmt: skip
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("VUS-PR, published", "VUS-PR, ours")
