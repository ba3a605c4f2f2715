"""Scores written as MDF4 and MCAP, read back by the libraries and by axonad."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad.cli.recording_files import write_recording
from axonad.data.series import Series
from axonad.explanation import Explanation
from axonad.views.relation import Relation
from tests.cli.small_runs import NAMES, assert_one_red_line, frame
from tests.conftest import waves


@pytest.fixture
def scored():
    rows = 50
    values = np.column_stack([np.linspace(0, 5, rows), np.arange(rows)])
    values[7, 0] = np.nan
    times = np.datetime64("2021-07-26T04:41:10") + 100 * np.arange(rows).astype("timedelta64[ms]")
    series = Series(
        values=values, channels=("speed", "score"), times=times, units=("m/s", ""),
        unusable=np.arange(rows) == 7,
    )  # fmt: skip
    scores = np.where(np.arange(rows) == 7, np.nan, np.linspace(0, 2, rows))
    return series, Explanation(scores, {"d_rec": scores / 2}, None, 1.5, series.channels)


@pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")
@pytest.mark.parametrize("ending", [".mf4", ".mcap"])
def test_channels_and_scores_come_back(scored, tmp_path, ending):
    series, found = scored
    path = tmp_path / f"scored{ending}"
    write_recording(path, series, found)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    names = {
        ".mf4": ("speed", "axonad.score", "d_rec", "alarm"),
        ".mcap": ("/channels.speed", "/axonad.score", "/axonad.d_rec", "/axonad.alarm"),
    }[ending]
    read = axonad.read(path, rate="10Hz", max_age="100ms", channels=names)
    columns = [read.values[:, read.channels.index(name)] for name in names]
    np.testing.assert_array_equal(read.times, series.times)
    known = np.arange(50) != 7  # there the value of the row before is held
    for column, expected in zip(
        columns, (series.values[:, 0], found.scores, found.components["d_rec"]), strict=False
    ):
        np.testing.assert_allclose(column[known], expected[known])
    np.testing.assert_array_equal(columns[3], found.alarms)
    if ending == ".mf4":
        from asammdf import MDF

        with MDF(path) as mdf:
            assert mdf.get("speed").unit == "m/s"
            assert len(mdf.get("axonad.score").validate()) == 49


@pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")
@pytest.mark.parametrize("ending", [".mf4", ".mcap"])
def test_channels_are_written_beside_what_they_should_have_been(tmp_path, ending):
    values = waves(900)
    trained = Series(values=values[:600], channels=NAMES)
    detector = Relation(context=("torque",)).fit(trained)
    truth = values[600:].copy()
    values[700:740, 0] += 3.0
    times = np.datetime64("2021-07-26T04:41:10") + 100 * np.arange(300).astype("timedelta64[ms]")
    units = ("m/s", "", "")
    series = Series(values=values[600:], channels=NAMES, times=times, units=units)
    found = detector.explain(series)
    events = found.explained(found.events(gap=5))
    assert [event.why.channels for event in events] == [("speed",)]
    path = tmp_path / f"scored{ending}"
    write_recording(path, series, found, events)
    start = {".mf4": "expected/", ".mcap": "/expected."}[ending]
    names = [f"{start}speed", f"{start}yaw_rate"]
    read = axonad.read(path, rate="10Hz", ignore=["/channels*", "/axonad*"] * (ending == ".mcap"))
    assert [name for name in read.channels if name.startswith(start)] == names
    columns = {name: read.values[:, read.channels.index(name)] for name in names}
    later = -len(read.values) + 20  # the first rows have no rows before
    for i, name in enumerate(names):
        assert np.abs(columns[name][later:] - truth[later:, i]).max() < 0.4, name
    if ending == ".mf4":
        assert dict(zip(read.channels, read.units, strict=True))["expected/speed"] == "m/s"


def test_axonad_score_writes_them(run, model, tmp_path):
    frame(100, time=True).write_csv(tmp_path / "d.csv")
    code, out, _ = run("score", model, "d.csv", "--out", "s.mcap")
    assert code == 0
    assert out.endswith("wrote s.mcap\n")
    assert "/expected.speed" in run("inspect", "s.mcap")[1]
    answer = run("score", model, "d.csv", "--out", "t.mf4", "--chunk", "50")
    assert_one_red_line(answer, ".mf4 needs the whole series; leave out --chunk")
