"""One drive as a test engineer may have it, in every format: the same raster, scores and events.

Values agree within 1e-12, scores within 1e-9, both relative; events are equal.
"""

from __future__ import annotations

import zipfile

import can
import cantools
import numpy as np
import polars as pl
import pytest

import axonad
from tests.data.readers import recordings
from tests.data.readers.recordings import BEGIN

pytestmark = pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")

RATE, AGE = "10Hz", "3s"
FORMATS = (
    "bus.mf4", "bus.blf", "bus.asc", "bus.log", "channels.mf4", "channels.mcap", "table.parquet",
    "table.csv",
)  # fmt: skip
DBC = """VERSION ""
BU_: X
BO_ 256 inertial: 6 X
 SG_ yaw_rate : 0|16@1- (0.01,0) [-300|300] "deg/s" X
 SG_ lateral : 23|16@0- (0.005,0) [-100|100] "m/s^2" X
 SG_ roll : 32|16@1- (0.001,0) [-30|30] "deg" X
BO_ 512 gps: 2 X
 SG_ speed : 0|16@1+ (0.01,0) [0|655] "m/s" X
"""


def decode(messages, text, channels):
    """Samples by cantools, frame by frame: name → times since the begin, values, unit."""
    database = cantools.database.load_string(text, "dbc")
    known = {one.frame_id: one for one in database.messages}
    found = {name: ([], []) for name in channels}
    for one in messages:
        if one.arbitration_id not in known:
            continue
        values = known[one.arbitration_id].decode(bytes(one.data), decode_choices=False)
        for name in set(values) & set(channels):
            found[name][0].append(round(one.timestamp - BEGIN, 6))
            found[name][1].append(float(values[name]))
    units = {signal.name: signal.unit or "" for one in database.messages for signal in one.signals}
    return {n: (np.array(t), np.array(v), units[n]) for n, (t, v) in found.items()}


def table(samples):
    """The raster as a data frame, by the joins of polars."""
    kind = pl.Datetime("us")
    begin = round(BEGIN * 1e6)
    stamps = {n: np.rint(t * 1e6).astype(np.int64) + begin for n, (t, _, _) in samples.items()}
    first = -(-min(one[0] for one in stamps.values()) // 100_000)
    last = max(one[-1] for one in stamps.values()) // 100_000
    found = pl.DataFrame({"time": np.arange(first, last + 1) * 100_000}).cast({"time": kind})
    for name, (_, values, _) in samples.items():
        own = pl.DataFrame({"time": stamps[name], name: values}).cast({"time": kind})
        own = own.unique("time", keep="last").sort("time")
        found = found.sort("time").join_asof(own, on="time", tolerance=AGE)
    return found


def write_all(folder, messages, text, channels):
    """Write frames and what they hold in all formats, by the libraries of the formats."""
    (folder / "bus.dbc").write_text(text)
    recordings.write_bus_mdf(folder / "bus.mf4", messages)
    for ending in (".blf", ".asc", ".log"):
        recordings.write_log(folder / f"bus{ending}", messages)
    samples = decode(messages, text, channels)
    recordings.write_mdf(folder / "channels.mf4", samples)
    recordings.write_mcap(folder / "channels.mcap", samples)
    frame = table(samples)
    frame.write_parquet(folder / "table.parquet")
    frame.write_csv(folder / "table.csv")
    return frame


def check_all(folder, frame, detector, channels):
    """Compare raster, scores and events of all files with those of the first."""
    dbc, rename = [folder / "bus.dbc"], {f"/{name}.value": name for name in channels}
    reference, scores, events = None, None, None
    for name in FORMATS:
        asked = {} if name.startswith("table") else {"rate": RATE, "max_age": AGE, "dbc": dbc}
        series = axonad.read(folder / name, channels=channels, rename=rename, **asked)
        complete = np.isfinite(series.values).all(axis=1)
        series = series.rows(int(np.argmax(complete)))  # at the beginning, some have no value yet
        order = [series.channels.index(one) for one in channels]
        values = series.values[:, order]
        found = detector.decision_function(series)
        listed = [(e.start, e.end, e.peak, e.severity, e.channels) for e in detector.events(series)]
        if reference is None:
            reference, scores, events = values, found, listed
            expected = frame.drop_nulls().select(channels).to_numpy()
            np.testing.assert_allclose(reference, expected, rtol=1e-12)
            assert np.isfinite(scores).all()
            assert events, "a drive without events would compare nothing"
        np.testing.assert_allclose(values, reference, rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(found, scores, rtol=1e-9, err_msg=name)
        assert listed == events, name
        seconds = np.diff(series.times.astype("datetime64[us]").astype(np.int64)) / 1e6
        np.testing.assert_allclose(seconds, 0.1, err_msg=name)


def frames(seconds, seed, fault=None):
    """Frames of a car that follows its own yaw rate, at 50 and 5 Hz, with jitter."""
    rng = np.random.default_rng(seed)
    database = cantools.database.load_string(DBC, "dbc")
    found = []
    for i in range(50 * seconds):
        t = i / 50
        speed = 15 + 5 * np.sin(t / 9)
        yaw = 12 * np.sin(t / 2.3) + rng.normal(scale=0.2)
        shift = 3.0 if fault is not None and fault <= t < fault + 3 else 0.0
        lateral = np.radians(yaw) * speed + shift + rng.normal(scale=0.05)
        values = {"yaw_rate": yaw, "lateral": lateral, "roll": 0.6 * lateral}
        jitter = 0.00002 * int(rng.integers(20)) if i else 0.0
        data = database.encode_message(256, values)
        found.append((t + jitter, 256, data))
        if i % 10 == 0:
            found.append((t + 0.001, 512, database.encode_message(512, {"speed": speed})))
    return [
        can.Message(timestamp=BEGIN + round(t, 6), arbitration_id=number, data=data, channel=0,
                    is_extended_id=False)
        for t, number, data in sorted(found)
    ]  # fmt: skip


def test_a_generated_drive(tmp_path):
    channels = ("yaw_rate", "lateral", "roll", "speed")
    recordings.write_log(tmp_path / "train.log", frames(60, seed=1))
    frame = write_all(tmp_path, frames(20, seed=2, fault=12), DBC, channels)
    trained = axonad.read(
        tmp_path / "train.log", dbc=[tmp_path / "bus.dbc"], rate=RATE, max_age=AGE
    )
    detector = axonad.make_detector("CrossChannelRidge", alarm_budget="10 per hour").fit(trained)
    check_all(tmp_path, frame, detector, channels)


def test_a_real_drive(shared_data, tmp_path):
    """A minute of a real drive, scored by a model of another one."""
    from asammdf import MDF

    archive = shared_data / "recordings.zip"
    if not archive.is_file():
        pytest.skip(f"no real recordings: {archive} does not exist (set AXONAD_DATA)")
    with zipfile.ZipFile(archive) as file:
        for name in ("drive_4.MF4", "drive_5.MF4", "canmod-gps.dbc"):
            (tmp_path / name).write_bytes(file.read(f"recordings/{name}"))
    channels = (
        "AccelerationX", "AccelerationY", "AccelerationZ", "AngularRateX", "AngularRateY",
        "AngularRateZ", "Speed",
    )  # fmt: skip
    with MDF(tmp_path / "drive_4.MF4") as mdf:
        signal = mdf.get("CAN_DataFrame")
    rows, times = signal.samples, np.round(signal.timestamps, 6)
    start = np.flatnonzero((np.rint(times * 1e6) % 1000 == 0) & (times > times[0] + 4))[0]
    cut = range(int(start), int(np.searchsorted(times, times[start] + 50)))
    messages = [
        can.Message(
            timestamp=BEGIN + round(times[i] - times[start], 6), channel=0,
            arbitration_id=int(rows["CAN_DataFrame.ID"][i]),
            is_extended_id=bool(rows["CAN_DataFrame.IDE"][i]),
            data=bytes(rows["CAN_DataFrame.DataBytes"][i][: rows["CAN_DataFrame.DLC"][i]]),
        )
        for i in cut
    ]  # fmt: skip
    text = (tmp_path / "canmod-gps.dbc").read_text()
    frame = write_all(tmp_path, messages, text, channels)
    trained = axonad.read(
        tmp_path / "drive_5.MF4", dbc=[tmp_path / "canmod-gps.dbc"], channels=channels, rate=RATE,
        max_age=AGE,
    )  # fmt: skip
    detector = axonad.make_detector("PCA", window=16, alarm_budget="20 per hour").fit(trained)
    check_all(tmp_path, frame, detector, channels)
