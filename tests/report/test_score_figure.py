from __future__ import annotations

import sys

import numpy as np
import pytest

from axonad.data.series import Series
from axonad.errors import MissingDependencyError, UnknownNameError
from axonad.report.score_figure import draw_scores
from tests.conftest import waves


def series():
    marks = np.zeros(200, dtype=np.int8)
    marks[50:60] = 1
    return Series(values=waves(200, channels=6), channels=tuple("abcdef"), labels=marks)


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_every_format_is_drawn(tmp_path, ending):
    path = tmp_path / f"new folder/figure{ending}"
    draw_scores(path, series=series(), scores=np.arange(200.0), threshold=150.0)
    assert path.stat().st_size > 1000


def test_components_and_single_channel(tmp_path):
    one = Series(values=np.zeros((50, 1)), channels=("still",))
    draw_scores(
        tmp_path / "x.png", series=one, scores=np.zeros(50), threshold=1.0,
        components={"d_rec": np.zeros(50), "d_q": np.ones(50)},
    )  # fmt: skip
    assert (tmp_path / "x.png").exists()


def test_unknown_format(tmp_path):
    with pytest.raises(UnknownNameError, match=r"cannot draw 'x\.gif'"):
        draw_scores(tmp_path / "x.gif", series=series(), scores=np.zeros(200), threshold=1.0)


def test_missing_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'axonad\[plot\]'"):
        draw_scores(tmp_path / "x.png", series=series(), scores=np.zeros(200), threshold=1.0)
