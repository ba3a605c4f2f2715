"""Time in a frame: an index or a column, by the rule that files follow."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import axonad
from axonad import make_detector
from axonad.errors import ChannelError, DataWarning, InputError
from axonad.joint_fit import fit_many
from axonad.stream import Session
from tests.conftest import SMALL, waves

NAMES = ["speed", "yaw_rate", "torque"]
START = pd.Timestamp("2026-03-01T08:00:00")


def drive(rows=300, seed=0):
    return pd.DataFrame(waves(rows, seed=seed), columns=NAMES)


def clock(rows, gap_at=None):
    """Return datetimes ten times a second, with a gap of 485 s before a row."""
    steps = np.full(rows, 100)
    steps[0] = 0
    if gap_at is not None:
        steps[gap_at] = 485_000
    return START + pd.to_timedelta(np.cumsum(steps), unit="ms")


def fitted():
    return make_detector("WindowStatistics", lengths=(16,)).fit(drive().set_axis(clock(300)))


@pytest.mark.parametrize("where", ["index", "utc index", "column", "polars", "seconds", "named"])
def test_a_gap_in_a_frame_is_one_as_in_a_series(where):
    detector, frame, times = fitted(), drive(200, seed=1), clock(200, gap_at=120)
    seconds = (times - START).total_seconds().to_numpy()
    series = axonad.Series(values=frame.to_numpy(), channels=tuple(NAMES), times=times.to_numpy())
    given = {
        "index": frame.set_axis(times),
        "utc index": frame.set_axis(times.tz_localize("Europe/Berlin")),
        "column": frame.assign(recorded=times),
        "polars": pl.DataFrame(
            {"when": times.to_numpy(), **{n: frame[n].to_numpy() for n in NAMES}}
        ),
        "seconds": frame.assign(t=seconds),
        "named": frame.set_axis(pd.Index(seconds, name="Time")),
    }[where]
    with pytest.warns(DataWarning, match="1 gap in time, first before row 120, the longest 485 s"):
        found = detector.decision_function(given)
    with pytest.warns(DataWarning, match="1 gap"):
        np.testing.assert_array_equal(found, detector.decision_function(series))
    with pytest.warns(DataWarning, match="1 gap"):
        assert detector.explain(given).cuts == (120,)


def test_a_shuffled_frame_is_refused():
    detector, frame = fitted(), drive().set_axis(clock(300))
    shuffled = frame.sample(frac=1, random_state=0)
    for use in (detector.decision_function, detector.explain, detector.fit):
        with pytest.raises(InputError, match=r"time runs backwards at .* sort the rows by time"):
            use(shuffled)
    series = axonad.Series.from_frame(drive().assign(at=clock(300)[::-1]), time="at")
    with pytest.raises(InputError, match="time runs backwards"):
        make_detector("PCA").fit(series)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_and_its_file_are_alike(library, tmp_path):
    table = pl.DataFrame({"time": np.arange(300) / 10, **dict(drive())})
    table.write_parquet(tmp_path / "drive.parquet")
    frame = pd.DataFrame(table.to_dict(as_series=False)) if library == "pandas" else table
    file = axonad.read(tmp_path / "drive.parquet")
    with pytest.warns(DataWarning, match="column 'time' is taken as the time of the rows, not as"):
        detector = make_detector("PCA").fit(frame)
    assert detector.channel_names == tuple(NAMES) == file.channels
    assert detector.interval_ == pytest.approx(0.1)
    np.testing.assert_array_equal(
        detector.decision_function(frame), make_detector("PCA").fit(file).decision_function(file)
    )


def test_a_numeric_column_is_time_only_if_it_increases(tmp_path):
    rows = np.arange(300)
    cold = drive().assign(t=20 + np.sin(rows / 9))
    timed = drive().assign(t=rows / 10)
    assert make_detector("PCA").fit(cold).channel_names == (*NAMES, "t")
    with pytest.warns(DataWarning, match="'t' is taken as the time"):
        assert make_detector("PCA").fit(timed).channel_names == tuple(NAMES)
    cold.to_csv(tmp_path / "cold.csv", index=False)
    timed.to_csv(tmp_path / "timed.csv", index=False)
    assert axonad.read(tmp_path / "cold.csv").times is None
    with pytest.warns(DataWarning, match=r"'t' is taken as .* channels=\['t', '\*'\] keeps it"):
        np.testing.assert_array_equal(axonad.read(tmp_path / "timed.csv").times, rows / 10)
    assert axonad.read(tmp_path / "timed.csv", channels=["t", "*"]).channels == (*NAMES, "t")
    assert axonad.read(tmp_path / "timed.csv", time="t").channels == tuple(NAMES)
    only = timed[["t"]]
    assert make_detector("ControlChart").fit(only).channel_names == ("t",)
    only.to_csv(tmp_path / "only.csv", index=False)
    assert axonad.read(tmp_path / "only.csv").channels == ("t",)


def test_the_caller_may_say_that_it_is_a_channel_and_a_model_remembers():
    timed = drive().assign(time=np.arange(300) / 10)
    series = axonad.Series.from_frame(timed, time=False)
    assert series.channels == (*NAMES, "time") and series.times is None
    detector = make_detector("PCA").fit(series)
    assert detector.channel_names == (*NAMES, "time")
    scores = detector.decision_function(timed)
    np.testing.assert_array_equal(scores, detector.decision_function(timed.to_numpy()))
    np.testing.assert_array_equal(scores, detector.decision_function(pl.from_pandas(timed)))


def test_a_frame_for_a_model_without_names_is_matched_by_position_only_on_request():
    detector = make_detector("PCA").fit(waves(300))
    frame = drive(100, seed=1)
    for given in (frame, frame.set_axis(clock(100)), pl.from_pandas(frame)):
        with pytest.raises(
            ChannelError,
            match=r"X has columns 'speed', 'yaw_rate', 'torque', but PCA was fitted on an array "
            r"without names; pass X.to_numpy\(\) to match the columns by position",
        ):
            detector.decision_function(given)
    expected = detector.decision_function(frame.to_numpy())
    numbered = frame.set_axis(range(3), axis=1)
    np.testing.assert_array_equal(detector.decision_function(numbered), expected)
    named = axonad.Series.from_frame(frame)
    np.testing.assert_array_equal(detector.decision_function(named), expected)


def test_recordings_fitted_together_and_streams_take_times_of_frames():
    frames = [drive(120, seed=i).set_axis(clock(120)) for i in range(3)]
    detector = make_detector("PCA").fit(frames)
    assert detector.interval_ == pytest.approx(0.1)
    (joint,) = fit_many([axonad.AxonAD(**SMALL)], [frames[0]])
    assert joint.interval_ == pytest.approx(0.1)
    session = Session(detector)
    session.push(drive(120).set_axis(clock(120, gap_at=60)))
    assert session.counts()["gaps"] == 1


def test_text_and_other_columns_of_a_frame():
    text = drive().assign(Timestamp=clock(300).strftime("%Y-%m-%dT%H:%M:%S.%f"))
    assert make_detector("PCA").fit(text).interval_ == pytest.approx(0.1)
    elapsed = drive().assign(since=pd.to_timedelta(np.arange(300), unit="s"))
    assert make_detector("PCA").fit(elapsed).interval_ == pytest.approx(1.0)
    two = drive().assign(begin=clock(300), end=clock(300))
    with pytest.raises(InputError, match="column 'end' is not numeric"):
        make_detector("PCA").fit(two)
    levels = drive().set_axis(pd.MultiIndex.from_product([["a", "b"], clock(150)]))
    with pytest.raises(InputError, match=r"several levels.*X\.groupby\(level=0\)"):
        make_detector("PCA").fit(levels)
    with pytest.raises(ChannelError, match="the frame has no column 'tiem'"):
        axonad.Series.from_frame(drive().assign(time=0.0), time="tiem")
    units = drive()
    units.attrs["units"] = {"speed": "km/h"}
    assert axonad.Series.from_frame(units).units == ("km/h", "", "")
