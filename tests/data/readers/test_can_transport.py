"""J1939 messages longer than a frame, from generated packets."""

from __future__ import annotations

import can
import cantools
import numpy as np
import pytest

import axonad
from axonad.errors import InputError
from tests.data.readers import recordings
from tests.data.readers.recordings import BEGIN

pytestmark = pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")

GROUP = 0xFEE3  # to all receivers
DBC = """VERSION ""
BU_: X
BO_ 2566841342 EC1: 20 X
 SG_ low_idle : 0|16@1+ (0.125,0) [0|8031] "rpm" X
 SG_ torque : 135|16@0- (0.5,0) [-500|500] "Nm" X
 SG_ gain : 144|16@1+ (0.01,0) [0|600] "%" X
BO_ 2566844926 CCVS1: 8 X
 SG_ wheel_speed : 8|16@1+ (0.00390625,0) [0|250.996] "km/h" X
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_ "VFrameFormat" BO_ 2566841342 3;
BA_ "VFrameFormat" BO_ 2566844926 3;
"""
COURSES = {
    "low_idle": lambda i: 600.0 + i,
    "torque": lambda i: 0.5 * (i - 20),
    "gain": lambda i: 0.25 * i,
}


def frame(second, number, data):
    return can.Message(
        timestamp=BEGIN + round(second, 6), arbitration_id=number, data=data, is_extended_id=True,
        channel=0,
    )  # fmt: skip


def packets(second, data, *, sender, receiver=0xFF, lost=None, again=None):
    """The frames that carry a message, 5 ms apart; the last is 15 ms after the first."""
    count = -(-len(data) // 7)
    first = 32 if receiver == 0xFF else 16
    end = (receiver << 8) | sender
    announced = bytes([first, *len(data).to_bytes(2, "little"), count, 0xFF])
    announced += GROUP.to_bytes(3, "little")
    found = [frame(second, 0x1CEC0000 | end, announced)]
    numbers = [n for n in range(1, count + 1) if n != lost]
    numbers += [again] if again else []
    for place, n in enumerate(numbers, 1):
        part = data[7 * (n - 1) : 7 * n].ljust(7, b"\xff")
        found.append(frame(second + 0.005 * place, 0x1CEB0000 | end, bytes([n]) + part))
    return found


@pytest.fixture(scope="module")
def drive():
    """Thirty messages at 10 Hz to all and thirty to one receiver, and what is in their way."""
    message = cantools.database.load_string(DBC, "dbc").get_message_by_name("EC1")
    found = []
    for i in range(30):
        data = message.encode({name: course(i) for name, course in COURSES.items()})
        lost = 2 if i == 7 else None
        found += packets(0.1 * i, data, sender=0x00, lost=lost)
        found += packets(0.1 * i + 0.002, data, sender=0x0B, receiver=0x21, again=2)
        speed = b"\xff" + (256 * (30 + i)).to_bytes(2, "little") + b"\xff" * 5
        found.append(frame(0.1 * i + 0.001, 0x18FEF100, speed))
    found.append(frame(3.05, 0x1CEBFF00, b"\x01" + b"\0" * 7))  # no message was announced
    # one that its receiver aborts before the last packet
    found += packets(3.1, b"\0" * 20, sender=0x0C, receiver=0x21)
    found.append(frame(3.112, 0x1CEC0C21, b"\xff\x01\xff\xff\xff" + GROUP.to_bytes(3, "little")))
    return sorted(found, key=lambda one: one.timestamp)


@pytest.mark.parametrize("ending", [".blf", ".asc", ".log", ".mf4"])
def test_long_messages_are_put_together(drive, tmp_path, ending):
    (tmp_path / "truck.dbc").write_text(DBC)
    path = tmp_path / f"truck{ending}"
    write = recordings.write_bus_mdf if ending == ".mf4" else recordings.write_log
    write(path, drive)
    series = axonad.read(path, dbc=[tmp_path / "truck.dbc"], rate="10Hz", max_age="100ms")
    expected = ["gain@0x00", "gain@0x0B", "low_idle@0x00", "low_idle@0x0B", "torque@0x00"]
    assert sorted(series.channels) == [*expected, "torque@0x0B", "wheel_speed"]
    columns = dict(zip(series.channels, series.values.T, strict=True))
    for name, course in COURSES.items():
        whole = course(np.arange(30.0))
        np.testing.assert_allclose(columns[f"{name}@0x0B"][:29], whole[:29], rtol=1e-12)
        whole[7] = np.nan  # a packet was lost
        np.testing.assert_allclose(columns[f"{name}@0x00"][:29], whole[:29], rtol=1e-12)
    np.testing.assert_allclose(columns["wheel_speed"][:29], 30 + np.arange(29.0))


def test_a_message_counts_when_it_is_complete(drive, tmp_path):
    (tmp_path / "truck.dbc").write_text(DBC)
    path = recordings.write_log(tmp_path / "truck.log", drive)
    series = axonad.read(path, dbc=[tmp_path / "truck.dbc"], rate="1kHz", channels=["gain@0x00"])
    assert series.times[0] == np.datetime64("2021-07-26T04:40:54.015")
    cut = [m for m in drive if m.timestamp < BEGIN + 0.01]
    path = recordings.write_log(tmp_path / "cut.log", cut)
    with pytest.raises(InputError, match="no channel 'gain'"):
        axonad.read(path, dbc=[tmp_path / "truck.dbc"], channels=["gain"])
