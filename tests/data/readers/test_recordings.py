"""The same recording in every format gives the same raster."""

from __future__ import annotations

import sys
import zipfile

import cantools
import numpy as np
import pytest

import axonad
from axonad.data.readers.about import About
from axonad.data.readers.asked import Asked
from axonad.data.readers.chunks import FileChunks
from axonad.data.readers.reading import read_described
from axonad.data.readers.request import Request
from axonad.errors import (
    ChannelError,
    DataWarning,
    FileError,
    InputError,
    MissingDependencyError,
)
from tests.data.readers import recordings
from tests.data.readers.recordings import BEGIN, CHANNELS

pytestmark = pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "bus.dbc").write_text(recordings.DBC)
    messages = recordings.make_messages()
    for ending in (".blf", ".asc", ".log"):
        recordings.write_log(folder / f"drive{ending}", messages)
    recordings.write_bus_mdf(folder / "drive.mf4", messages)
    decoded = decode_one_by_one(messages)
    recordings.write_mdf(folder / "decoded.mf4", decoded)
    recordings.write_mdf(folder / "decoded.mdf", decoded, version="3.30")
    recordings.write_mcap(folder / "decoded.mcap", decoded)
    return folder


def decode_one_by_one(messages):
    """Samples by cantools, frame by frame: name → times, values, unit."""
    database = cantools.database.load_string(recordings.DBC, "dbc")
    found = {name: ([], [], "") for name in CHANNELS}
    for one in messages:
        is_wheel = one.is_extended_id
        if one.arbitration_id not in (256, 0x18FEF121) or bytes(one.data[1:3]) == b"\xff\xff":
            continue
        number = 0x18FEF1FE if is_wheel else 256
        known = database.decode_message(number, one.data, decode_choices=False)
        for name in set(known) & set(CHANNELS):
            unit = next(s.unit for m in database.messages for s in m.signals if s.name == name)
            times, values, _ = found[name]
            times.append(round(one.timestamp - BEGIN, 6))
            values.append(float(known[name]))
            found[name] = (times, values, unit)
    return {name: (np.array(t), np.array(v), unit) for name, (t, v, unit) in found.items()}


def read(folder, name, **asked):
    dbc = [folder / "bus.dbc"] if name.startswith("drive") else []
    rename = {f"/{one}.value": one for one in CHANNELS}
    return axonad.read(folder / name, dbc=dbc, rename=rename, **asked)


def naive_raster(decoded, interval=0.02):
    """The rule, sample by sample, in whole microseconds."""
    step = round(interval * 1e6)
    samples = {
        name: [(round((BEGIN + t) * 1e6), v) for t, v in zip(*pair[:2], strict=True)]
        for name, pair in decoded.items()
    }
    ages = {name: 10 * float(np.median(np.diff([t for t, _ in s]))) for name, s in samples.items()}
    first = min(s[0][0] for s in samples.values())
    last = max(s[-1][0] for s in samples.values())
    rows, times = [], []
    for number in range(-(-first // step), last // step + 1):
        time, row = number * step, []
        for name in CHANNELS:
            before = [pair for pair in samples[name] if pair[0] <= time]
            is_young = before and time - before[-1][0] <= ages[name]
            row.append(before[-1][1] if is_young else np.nan)
        rows.append(row)
        times.append(time)
    return np.array(times).astype("datetime64[us]"), np.array(rows)


FILES = (
    "drive.mf4", "drive.blf", "drive.asc", "drive.log",
    "decoded.mf4", "decoded.mdf", "decoded.mcap",
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_raster(folder, name):
    times, values = naive_raster(decode_one_by_one(recordings.make_messages()))
    series = read(folder, name, channels=CHANNELS)
    order = [series.channels.index(one) for one in CHANNELS]
    np.testing.assert_allclose(series.values[:, order], values, rtol=1e-12, equal_nan=True)
    if name.endswith(".asc"):  # has the local time of the machine that wrote it
        np.testing.assert_array_equal(np.diff(series.times), np.diff(times))
    else:
        np.testing.assert_array_equal(series.times, times)
    np.testing.assert_array_equal(series.unusable, np.isnan(values).any(axis=1))
    if not name.endswith(".mcap"):
        units = dict(zip(series.channels, series.units, strict=True))
        assert units["speed"] == units["wheel_speed"] == "km/h"
        assert units["oil"] == "degC"
    chunks = list(
        FileChunks(folder / name, size=37, dbc=[folder / "bus.dbc"], channels=series.channels,
                   rename={f"/{one}.value": one for one in CHANNELS})
    )  # fmt: skip
    np.testing.assert_array_equal(np.concatenate([c.values for c in chunks]), series.values)
    np.testing.assert_array_equal(np.concatenate([c.times for c in chunks]), series.times)


def test_codes_are_channels_only_when_asked(folder):
    assert set(read(folder, "drive.mf4").channels) == set(CHANNELS)
    assert {"gear", "mux"} < set(read(folder, "drive.mf4", codes=True).channels)
    assert read(folder, "drive.mf4", channels=["gear", "s*"]).channels == ("speed", "gear")
    with pytest.raises(ChannelError, match=r"has no channel 'geer'; did you mean 'gear'\?"):
        read(folder, "drive.blf", channels=["geer"])
    with pytest.raises(ChannelError, match="no channel that fits 'x\\*'"):
        read(folder, "drive.blf", ignore=["x*"])


def test_the_rate_is_said_or_asked_for(folder):
    with pytest.warns(DataWarning, match=r"\d+ rows at 50 Hz, from the fastest channel 'speed'"):
        read(folder, "drive.log", ignore=["wheel_speed"])
    tenth = read(folder, "drive.log", rate="10Hz", max_age="150ms", channels=["wheel_speed"])
    assert np.diff(tenth.times).astype(int).min() == 100_000
    seconds = tenth.times.astype("datetime64[us]").astype(int) / 1e6 - BEGIN
    np.testing.assert_array_equal(
        np.round(seconds[tenth.unusable], 6)[:5], [0.2, 0.4, 0.6, 0.8, 1.0]
    )  # held for one row of two
    assert not (np.abs(seconds - 1.9) < 0.01).any()  # "not available" is no value


def test_what_became_of_the_channels(folder):
    asked = Asked.of(dbc=[folder / "bus.dbc"], ignore=["oil"])
    series, end = read_described(Request.of(folder / "drive.mf4", asked))
    about = end.about
    assert About.from_json(about.to_json()) == about
    found = {one.name: one for one in about.channels}
    assert found["oil"].why == "ignored"
    assert found["gear"].why.startswith("integer code")
    assert found["speed"].native == pytest.approx(20_000, rel=0.05)
    wheel = found["wheel_speed"]
    assert (wheel.samples, wheel.unit, wheel.max_age) == (19, "km/h", 2_000_000)
    assert wheel.fresh + wheel.held + wheel.missing == about.rows == len(series)
    assert wheel.held == pytest.approx(0.9 * about.rows, rel=0.05)
    assert wheel.low == 30.0


def test_wrong_databases_and_options_are_named(folder, tmp_path):
    with pytest.raises(InputError, match=r"drive.blf holds CAN frames; pass the DBC file"):
        axonad.read(folder / "drive.blf")
    (tmp_path / "other.dbc").write_text(
        recordings.DBC.replace("BO_ 256 ", "BO_ 3 ").split("BO_ 2566")[0]
    )
    with pytest.raises(InputError, match="none of the messages in the DBC files"):
        axonad.read(folder / "drive.blf", dbc=[tmp_path / "other.dbc"])
    (tmp_path / "bad.dbc").write_text("BO_ 12 §§")
    with pytest.raises(OSError, match=r"bad.dbc cannot be read as DBC"):
        axonad.read(folder / "drive.mf4", dbc=[tmp_path / "bad.dbc"])
    with pytest.raises(InputError, match="has its own times"):
        read(folder, "drive.log", time="t")


def test_a_message_on_two_buses_gives_two_channels(folder, tmp_path):
    messages = recordings.make_messages(2.0)
    for one in messages[::2]:
        one.channel = 1
    path = recordings.write_log(tmp_path / "two.blf", messages)
    channels = axonad.read(path, dbc=[folder / "bus.dbc"]).channels
    assert {"speed@CAN0", "speed@CAN1"} < set(channels)


ROS = {
    "a.mcap": lambda path: recordings.write_ros_mcap(path, version=1),
    "b.mcap": lambda path: recordings.write_ros_mcap(path, version=2),
    "c.bag": recordings.write_bag,
    "folder": lambda path: recordings.write_bag(path, storage="sqlite3"),
    "mcap.folder": lambda path: recordings.write_bag(path, storage="mcap"),
    "folder/folder.db3": lambda path: recordings.write_bag(path.parent, storage="sqlite3"),
}


@pytest.mark.parametrize("name", ROS)
def test_messages_of_ros(tmp_path, name):
    path = tmp_path / name
    ROS[name](path)
    series = axonad.read(path, ignore=["*.y"])
    parts = ("linear.x", "linear.z", "angular.x", "angular.z")
    assert series.channels == tuple(f"/twist.twist.{part}" for part in parts)
    np.testing.assert_allclose(series.values[:, 0], 0.5 * np.arange(30))
    np.testing.assert_allclose(series.values[:, 3], -np.arange(30))
    assert str(series.times[0]) == "2021-07-26T04:40:54.000000"
    with pytest.raises(InputError, match=rf"'/twist.header.frame_id' of {path.name} holds text"):
        axonad.read(path, channels=["/twist.header.frame_id"])


def test_damaged_bags_and_plain_folders_are_refused(tmp_path):
    (tmp_path / "plain").mkdir()
    with pytest.raises(FileError, match=r"plain is a folder without the metadata.yaml of a ROS 2"):
        axonad.read(tmp_path / "plain")
    bag = recordings.write_bag(tmp_path / "bag", storage="sqlite3")
    (bag / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 9}")
    with pytest.raises(FileError, match="bag cannot be read as ROSBAG: it is damaged or of anothe"):
        axonad.read(bag)
    for name in ("a.bag", "a.db3"):
        (tmp_path / name).write_bytes(b"#ROSBAG V2.0\n" + bytes(range(200)))
        with pytest.raises(FileError, match=f"{name} cannot be read as ROSBAG"):
            axonad.read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "package", "sentence"),
    [
        ("drive.mf4", "asammdf", r"MDF files need asammdf, .* 'axonad\[mdf\]'"),
        ("drive.blf", "can", r"CAN logs need python-can, .* 'axonad\[can\]'"),
        ("drive.blf", "cantools", r"DBC files need cantools, .* 'axonad\[can\]'"),
        ("decoded.mcap", "mcap", r"MCAP files need mcap, .* 'axonad\[mcap\]'"),
        ("ros.mcap", "rosbags", r"ROS messages need rosbags, .* 'axonad\[mcap\]'"),
    ],
)
def test_a_missing_package_is_named(folder, monkeypatch, name, package, sentence):
    from axonad.data.readers import process

    if name == "ros.mcap":
        recordings.write_ros_mcap(folder / name, version=2)
    monkeypatch.setattr(process, "borrow", lambda: None)  # read in this process
    for module in [*sys.modules, package]:
        if module.partition(".")[0] == package:
            monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=sentence):
        read(folder, name)


def test_real_drives_are_decoded_as_by_asammdf(shared_data, tmp_path):
    """The raster holds the samples of the library's own decoding, J1939 included."""
    from asammdf import MDF

    archive = shared_data / "recordings.zip"
    if not archive.is_file():
        pytest.skip(f"no real recordings: {archive} does not exist (set AXONAD_DATA)")
    names = ["drive_4.MF4", "canmod-gps.dbc", "truck_j1939.MF4", "j1939-demo.dbc"]
    with zipfile.ZipFile(archive) as file:
        for name in names:
            (tmp_path / name).write_bytes(file.read(f"recordings/{name}"))
    for drive, dbc, column in (
        (names[0], names[1], "AccelerationX"),
        (names[0], names[1], "Speed"),
        (names[2], names[3], "EngineSpeed"),
    ):
        series = axonad.read(tmp_path / drive, dbc=[tmp_path / dbc], channels=[column])
        with MDF(tmp_path / drive) as mdf:
            signal = mdf.extract_bus_logging({"CAN": [(tmp_path / dbc, 0)]}).get(column)
            begin = round(mdf.start_time.timestamp() * 1e6)
        times = np.rint(signal.timestamps * 1e6).astype(np.int64) + begin
        stamps = series.times.astype("datetime64[us]").astype(np.int64)
        expected = signal.samples[np.searchsorted(times, stamps, side="right") - 1]
        known = ~np.isnan(series.values[:, 0])
        assert known.mean() > 0.99
        np.testing.assert_allclose(series.values[known, 0], expected[known], rtol=1e-12)
        assert series.units == (signal.unit,)
