from __future__ import annotations

from axonad.report.selftest_figure import draw_self_test
from tests.report.figures import legend, names_on_y, texts
from tests.selftest.test_self_test import result_of


def test_cells_show_sizes_delays_and_blind_spots(tmp_path, drawn):
    found = result_of((1.0, 3), (2.0, 9), (4.0, 10), (None, 4))
    draw_self_test(tmp_path / "x.png", found)
    draw_self_test(tmp_path / "x.png", result_of((1.0, 0), (2.0, 0), (4.0, 7), (None, 10)))
    one, other = drawn
    assert names_on_y(one.axes[0]) == ["a"]
    assert [t.get_text() for t in one.axes[0].get_xticklabels()] == ["noisy", "frozen"]
    assert texts(one.axes[0]) == ["2", "3 rows", "40 %"]
    assert [patch.get_hatch() for patch in one.axes[0].patches] == [None, "//"]
    assert texts(other.axes[0]) == ["> 4", "70 %", "100 %", "3 rows"]
    assert [patch.get_hatch() for patch in other.axes[0].patches] == ["//", None]
    assert legend(one) == ["1", "2", "4", "found (no sizes)", "blind"]
    assert "3 false alarms" in one.get_suptitle()


def test_title_and_legend_stay_within_a_small_picture(tmp_path, drawn):
    draw_self_test(tmp_path / "x.png", result_of((1.0, 9), (2.0, 9), (4.0, 10), (None, 4)))
    (figure,) = drawn
    figure.draw_without_rendering()
    for part in (figure.legends[0], figure._suptitle):
        box = part.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
