from __future__ import annotations

import pytest

from axonad.paper.figures.runtime import draw_paper_runtime
from axonad.paper.published import paper_runtime
from tests.paper.tables.test_runtime import ROWS
from tests.report.figures import lines, names_on_y, texts


def test_times_and_ratios_to_axonad_are_drawn_beside_the_papers(tmp_path, drawn):
    draw_paper_runtime(tmp_path / "runtime.svg", ROWS)
    (figure,) = drawn
    seconds, latency, ratios = figure.axes
    assert names_on_y(seconds) == ["AxonAD", "TranAD", "IForest"], "the paper's order"
    fit, score = ([bar.get_width() for bar in bars] for bars in seconds.containers)
    assert (fit, score) == ([8.0, 2.0, 0.1], [2.0, 0.5, 4.0])
    assert texts(seconds) == ["10.0", "2.5", "4.1"]
    assert texts(latency) == ["2.0000", "0.5000", "4.0000"]
    ((x, _),) = lines(ratios, "end to end, ours")
    assert x == pytest.approx([1, 0.25, 0.41])
    ((x, _),) = lines(ratios, "latency, paper")
    base = paper_runtime()["AxonAD"].milliseconds
    expected = [paper_runtime()[name].milliseconds / base for name in names_on_y(seconds)]
    assert x == pytest.approx(expected)
    assert ratios.get_xscale() == "log"
