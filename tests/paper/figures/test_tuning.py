from __future__ import annotations

import pytest

from axonad.paper.figures.tuning import draw_tuning
from axonad.paper.tuning import read_tuning
from tests.paper.tuned import GRID, tuned_rows
from tests.report.figures import lines


def test_settings_by_rank_above_a_panel_per_parameter(tmp_path, drawn):
    rows = tuned_rows()
    draw_tuning(tmp_path / "a.png", rows=rows)
    (figure,) = drawn
    *panels, top = figure.axes
    assert [axis.get_xlabel() for axis in panels] == ["T (window)", "lr", "k (tail)"]
    tuning = read_tuning(rows)
    ((place, means),) = lines(top, "mean over series of a setting")
    assert place == list(range(1, 9))
    assert means == pytest.approx(tuning.means().tolist())
    rank = tuning.published + 1
    assert lines(top, f"published setting: rank {rank}") == [([rank], [means[rank - 1]])]


def test_without_the_published_setting_nothing_is_marked(tmp_path, drawn):
    draw_tuning(tmp_path / "a.png", rows=tuned_rows(GRID | {"tail": (3,)}))
    labels = [line.get_label() for line in drawn[0].axes[-1].lines]
    assert not any("published" in label for label in labels)
