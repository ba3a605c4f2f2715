from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from axonad.data.faults import PlantedEvent
from axonad.data.series import Series
from axonad.report.score_figure import GREEN, RED, draw_scores
from tests.conftest import waves


def series():
    marks = np.zeros(200, dtype=np.int8)
    marks[50:60] = 1
    return Series(values=waves(200, channels=6), channels=tuple("abcdef"), labels=marks)


def shaded(axis):
    """Return start, end and colour of every shaded span."""
    return [
        (patch.get_x(), patch.get_x() + patch.get_width(), to_hex(patch.get_facecolor()))
        for patch in axis.patches
    ]


def test_channels_score_threshold_alarms_and_labels_are_drawn(tmp_path, drawn):
    scores = np.arange(200.0)
    draw_scores(tmp_path / "x.png", series=series(), scores=scores, threshold=150.0)
    (figure,) = drawn
    *channels, score = figure.axes
    assert len(channels) == 4, "those that change most"
    for axis in channels:
        column = series().channels.index(axis.get_ylabel())
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), series().values[:, column])
    curve, limit, alarms = score.lines
    np.testing.assert_allclose(curve.get_ydata(), np.log10(1 + scores))
    assert limit.get_ydata() == pytest.approx([np.log10(151)] * 2)
    np.testing.assert_array_equal(alarms.get_xdata(), np.arange(151, 200))
    assert all(shaded(axis) == [(49.5, 59.5, RED)] for axis in figure.axes), "the labels"
    assert (score.get_xlabel(), figure.get_suptitle()) == ("step", "series")


def test_planted_events_are_shaded_by_whether_they_were_found(tmp_path, drawn):
    events = [PlantedEvent("drift", ("a",), 10, 20), PlantedEvent("spike", ("b",), 30, 31)]
    draw_scores(
        tmp_path / "x.png", series=series(), scores=np.zeros(200), threshold=1.0, title="t",
        planted=list(zip(events, [True, False], strict=True)), channels=("f", "unknown", "b"),
    )  # fmt: skip
    (figure,) = drawn
    assert [axis.get_ylabel() for axis in figure.axes] == ["f", "b", "score (log)"]
    assert shaded(figure.axes[0]) == [(9.5, 19.5, GREEN), (29.5, 30.5, RED)]
    assert figure.get_suptitle() == "t"


def test_components_have_a_panel_each_even_for_a_constant_channel(tmp_path, drawn):
    one = Series(values=np.zeros((50, 1)), channels=("still",))
    draw_scores(
        tmp_path / "x.png", series=one, scores=np.zeros(50), threshold=1.0,
        components={"d_rec": np.zeros(50), "d_q": -np.ones(50)},
    )  # fmt: skip
    still, score, rec, query = drawn[0].axes
    assert (rec.get_ylabel(), query.get_ylabel()) == ("d_rec (log)", "d_q (log)")
    np.testing.assert_allclose(query.lines[0].get_ydata(), -np.log10(2))
    assert not score.lines[2].get_xdata().size, "no alarms"
    assert shaded(still) == []
