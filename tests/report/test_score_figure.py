from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.dates import date2num

from axonad.alarms.event import AlarmEvent
from axonad.data.faults import PlantedEvent
from axonad.data.series import Series
from axonad.report import drawing
from axonad.report.score_figure import draw_scores
from tests.conftest import waves
from tests.report.figures import legend


def series():
    marks = np.zeros(200, dtype=np.int8)
    marks[50:60] = 1
    return Series(values=waves(200, channels=6), channels=tuple("abcdef"), labels=marks)


def shaded(axis):
    """Return start, end and colour of every shaded span."""
    return [
        (patch.get_x(), patch.get_x() + patch.get_width(), to_hex(patch.get_facecolor()).upper())
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
    np.testing.assert_array_equal(curve.get_ydata(), scores)
    assert score.get_yscale() == "symlog"
    assert limit.get_ydata() == [150, 150]
    np.testing.assert_array_equal(alarms.get_xdata(), np.arange(151, 200))
    labelled = [(49.5, 59.5, drawing.LABELLED)]
    assert all(shaded(axis) == labelled for axis in figure.axes), "the labels"
    assert (score.get_xlabel(), figure.get_suptitle()) == ("step", "series")
    assert legend(figure) == ["channel", "score", "threshold", "alarm", "labelled anomaly"]


def test_events_are_bars_by_severity_in_place_of_ticks(tmp_path, drawn):
    events = [AlarmEvent(20, 40, 30, 9.0, (), severity="critical"),
              AlarmEvent(90, 91, 90, 2.0, (), severity="warning")]  # fmt: skip
    draw_scores(
        tmp_path / "x.png", series=series(), scores=np.arange(200.0), threshold=150.0, events=events
    )
    (figure,) = drawn
    bars = figure.axes[-1].lines[2:]
    assert [list(bar.get_xdata()) for bar in bars] == [[89.5, 90.5], [19.5, 39.5]]
    small, large = bars
    assert [bar.get_color() for bar in bars] == [drawing.SEVERITY[e.severity] for e in events[::-1]]
    assert small.get_linewidth() < large.get_linewidth()
    assert legend(figure)[3:5] == ["event: warning", "event: critical"]
    assert "alarm" not in legend(figure)


def test_planted_events_are_shaded_by_whether_they_were_found(tmp_path, drawn):
    events = [PlantedEvent("drift", ("a",), 10, 20), PlantedEvent("spike", ("b",), 30, 31)]
    draw_scores(
        tmp_path / "x.png", series=series(), scores=np.zeros(200), threshold=1.0, title="t",
        planted=list(zip(events, [True, False], strict=True)), channels=("f", "unknown", "b"),
    )  # fmt: skip
    (figure,) = drawn
    assert [axis.get_ylabel() for axis in figure.axes] == ["f", "b", "score"]
    assert shaded(figure.axes[0]) == [(9.5, 19.5, drawing.FOUND), (29.5, 30.5, drawing.MISSED)]
    assert figure.axes[0].patches[1].get_linewidth() >= 1, "a single step is visible"
    expected = ["channel", "score", "threshold", "planted fault, found", "planted fault, missed"]
    assert legend(figure) == expected, "no alarms: nothing to explain"
    assert figure.get_suptitle() == "t"


def test_components_have_a_panel_each_even_for_a_constant_channel(tmp_path, drawn):
    one = Series(values=np.zeros((50, 1)), channels=("still",))
    draw_scores(
        tmp_path / "x.png", series=one, scores=np.zeros(50), threshold=1.0,
        components={"d_rec": np.zeros(50), "d_q": -np.ones(50)},
    )  # fmt: skip
    still, score, rec, query = drawn[0].axes
    assert (rec.get_ylabel(), query.get_ylabel()) == ("d_rec", "d_q")
    np.testing.assert_array_equal(query.lines[0].get_ydata(), -1)
    assert not score.lines[2].get_xdata().size, "no alarms"
    assert shaded(still) == []


@pytest.mark.parametrize(
    ("times", "label", "last"),
    [
        (np.arange(200) / 10 + 5, "time (s)", 24.9),
        (np.datetime64("2026-01-01", "ns") + np.arange(200) * np.timedelta64(6, "h"), "time", None),
        (np.array([f"at {i}" for i in range(200)], dtype=object), "step", 199),
    ],
)
def test_the_axis_shows_times_where_there_are_any(tmp_path, drawn, times, label, last):
    timed = replace(series(), times=times)
    draw_scores(tmp_path / "x.png", series=timed, scores=np.arange(200.0), threshold=150.0)
    (figure,) = drawn
    *_, score = figure.axes
    assert score.get_xlabel() == label
    shown = score.lines[0].get_xdata()
    assert shown[-1] == pytest.approx(date2num(times[-1]) if last is None else last)
    assert score.lines[2].get_xdata()[0] == shown[151], "alarms too"
    half = (shown[1] - shown[0]) / 2
    assert shaded(score)[0][:2] == pytest.approx((shown[50] - half, shown[59] + half))
    figure.draw_without_rendering()
    ticks = [tick.get_text() for tick in score.get_xticklabels()]
    assert ("Jan" in "".join(ticks)) == (last is None)


def test_rows_without_a_score_are_marked(tmp_path, drawn):
    values, scores = waves(60), np.ones(60)
    values[20:25], scores[20:30], scores[:4] = np.nan, np.nan, np.nan
    unusable = np.isnan(values[:, 0])
    lost = Series(values=values, channels=tuple("abc"), unusable=unusable)
    draw_scores(tmp_path / "x.png", series=lost, scores=scores, threshold=2.0)
    (figure,) = drawn
    channel, *_, score = figure.axes
    gap = (19.5, 24.5, drawing.UNUSABLE.upper())
    unscored = drawing.UNSCORED.upper()
    assert shaded(channel) == [gap]
    assert shaded(score) == [gap, (-0.5, 3.5, unscored), (24.5, 29.5, unscored)]
    assert legend(figure)[-2:] == ["unusable rows", "rows not scored"]


def test_a_series_without_any_score_can_be_drawn(tmp_path):
    nothing = Series(values=np.full((9, 2), np.nan), channels=("a", "b"))
    draw_scores(tmp_path / "x.png", series=nothing, scores=np.full(9, np.nan), threshold=2.0)
    assert (tmp_path / "x.png").exists()


def test_names_ticks_and_legend_neither_overlap_nor_leave_the_picture(tmp_path, drawn):
    long = Series(
        values=waves(300, channels=2), channels=("a_long_name_of_a_channel_in_a_log", "b"),
        times=np.datetime64("2026-01-01T22:00", "s") + np.arange(300) * np.timedelta64(60, "s"),
    )  # fmt: skip
    scores = np.arange(300.0)
    draw_scores(
        tmp_path / "x.png", series=long, scores=scores, threshold=200.0,
        components={"d_rec": scores, "d_q": scores},
    )  # fmt: skip
    (figure,) = drawn
    figure.draw_without_rendering()
    texts = [axis.yaxis.label for axis in figure.axes] + figure.legends[0].get_texts()
    boxes = [text.get_window_extent() for text in texts]
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    lowest = figure.axes[-1].get_tightbbox()
    assert figure.legends[0].get_window_extent().y1 <= lowest.y0
    ticks = [t for t in figure.axes[-1].get_xticklabels() if t.get_text()]
    edges = [tick.get_window_extent() for tick in ticks]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(edges))
