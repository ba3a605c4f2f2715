from __future__ import annotations

import pytest

from axonad.errors import InputError
from axonad.paper.figures.ablation import draw_ablation
from axonad.paper.published import paper_ablation
from tests.report.figures import legend, lines, names_on_y
from tests.report.rows import make_rows


def test_differences_to_base_are_drawn_beside_the_papers(tmp_path, drawn):
    rows = make_rows({"base": [0.6, 0.8], "heads-4": [0.5, 0.6], "recon-only-training": [0.6, 0.7]})
    draw_ablation(tmp_path / "a.svg", rows=rows)
    (figure,) = drawn
    (axis,) = figure.axes
    assert names_on_y(axis) == ["Recon only", "Heads=4"], "only changes that were run"
    ((x, y),) = lines(axis, "ours, as run")
    assert (x, y) == (pytest.approx([-0.05]), [0])
    ((x, y),) = lines(axis, "ours")
    assert (x, y) == (pytest.approx([-0.15]), [1])
    ((x, _),) = lines(axis, "paper")
    base = paper_ablation()["Base"]["VUS-PR"].mean
    assert x == [paper_ablation()[name]["VUS-PR"].mean - base for name in ("Recon only", "Heads=4")]
    assert set(legend(figure)) == {"ours", "ours, as run", "paper"}
    assert axis.get_xlabel().startswith("mean VUS-PR minus that of base")


def test_what_the_figure_needs(tmp_path):
    with pytest.raises(InputError, match="differences to base, but no row is of base"):
        draw_ablation(tmp_path / "b.svg", rows=make_rows({"heads-4": [0.5, 0.6]}))
    with pytest.raises(InputError, match="nothing to draw"):
        draw_ablation(tmp_path / "b.svg", rows=make_rows({"base": [0.5, 0.6], "PCA": [0.1, 0.2]}))
