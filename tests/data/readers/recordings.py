"""One recording in every format, written by the libraries themselves."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import can
import numpy as np

BEGIN = 1_627_274_454.0  # 2021-07-26T04:40:54Z
DBC = """VERSION ""
BU_: X
BO_ 256 motion: 8 X
 SG_ speed : 0|16@1+ (0.01,0) [0|655] "km/h" X
 SG_ yaw_rate : 23|12@0- (0.25,0) [-500|500] "deg/s" X
 SG_ gear : 40|4@1+ (1,0) [0|8] "" X
 SG_ mux M : 48|2@1+ (1,0) [0|3] "" X
 SG_ oil m0 : 56|8@1+ (1,-40) [-40|215] "degC" X
 SG_ fuel m1 : 56|8@1+ (0.4,0) [0|100] "%" X
BO_ 2566844926 CCVS1: 8 X
 SG_ wheel_speed : 8|16@1+ (0.00390625,0) [0|250.996] "km/h" X
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_ "VFrameFormat" BO_ 2566844926 3;
"""
CHANNELS = ("speed", "yaw_rate", "oil", "fuel", "wheel_speed")


def make_messages(seconds: float = 4.0) -> list[can.Message]:
    """Return frames of two messages at 50 and 5 Hz, one of J1939, with jitter of up to 0.4 ms."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(int(50 * seconds)):
        speed, yaw = 5000 + 7 * i, int(rng.integers(-300, 300)) & 0xFFF
        payload = bytearray(8)
        struct.pack_into("<H", payload, 0, speed)
        payload[2], payload[3] = yaw >> 4, (yaw & 0xF) << 4
        payload[5], payload[6], payload[7] = 3 + i // 100, i % 2, 60 + i % 50
        jitter = 0.00002 * int(rng.integers(20)) if i else 0.0  # logs begin at a millisecond
        found.append(_message(0.02 * i + jitter, 256, bytes(payload)))
    for i in range(int(5 * seconds)):
        raw = 0xFFFF if i == 9 else 256 * 30 + i  # the tenth is "not available"
        data = b"\xff" + struct.pack("<H", raw) + b"\xff" * 5
        found.append(_message(0.2 * i + 0.001, 0x18FEF121, data, extended=True))
    found.append(_message(0.5, 0x7FF, b"\x01"))
    return sorted(found, key=lambda one: one.timestamp)


def _message(second: float, number: int, data: bytes, *, extended: bool = False) -> can.Message:
    return can.Message(
        timestamp=BEGIN + round(second, 6), arbitration_id=number, data=data,
        is_extended_id=extended, channel=0,
    )  # fmt: skip


def write_log(path: Path, messages: list[can.Message]) -> Path:
    """Write frames as BLF, ASC or candump log, by the ending of the path."""
    writers = {".blf": can.BLFWriter, ".asc": can.ASCWriter, ".log": can.CanutilsLogWriter}
    with writers[path.suffix](path) as writer:
        for message in messages:
            writer.on_message_received(message)
    return path


def write_bus_mdf(path: Path, messages: list[can.Message]) -> Path:
    """Write frames as MDF4 bus logging."""
    from asammdf import MDF, Signal, Source

    kinds = [("ID", "<u4"), ("IDE", "u1"), ("BusChannel", "u1"), ("DLC", "u1")]
    kinds += [("DataLength", "u1"), ("DataBytes", "(8,)u1")]
    rows = np.zeros(len(messages), [(f"CAN_DataFrame.{name}", kind) for name, kind in kinds])
    for row, one in zip(rows, messages, strict=True):
        size = len(one.data)
        data = np.frombuffer(bytes(one.data).ljust(8, b"\0"), np.uint8)
        values = (one.arbitration_id, one.is_extended_id, 1, size, size, data)
        for (name, _), value in zip(kinds, values, strict=True):
            row[f"CAN_DataFrame.{name}"] = value
    times = np.array([one.timestamp - BEGIN for one in messages])
    source = Source("CAN", "CAN", "", Source.SOURCE_BUS, Source.BUS_TYPE_CAN)
    with _dated(MDF(version="4.11")) as mdf:
        mdf.append([Signal(rows, times, name="CAN_DataFrame", source=source)])
        mdf.save(path, overwrite=True)
    return path


def write_mdf(path: Path, channels: dict, *, version: str = "4.10") -> Path:
    """Write measured channels: name → (times, values, unit)."""
    from asammdf import MDF, Signal

    with _dated(MDF(version=version)) as mdf:
        for name, (times, values, unit) in channels.items():
            mdf.append([Signal(values, times, name=name, unit=unit)])
        mdf.save(path, overwrite=True)
    return path


def write_mcap(path: Path, channels: dict) -> Path:
    """Write each channel as a topic of JSON messages ``{"value": …}``."""
    from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        for name, (times, values, _) in channels.items():
            schema = writer.register_schema(name=name, encoding="jsonschema", data=b"{}")
            topic = writer.register_channel(
                topic=f"/{name}", message_encoding="json", schema_id=schema
            )
            for time, value in zip(times, values.tolist(), strict=True):
                stamp = round((BEGIN + time) * 1e6) * 1000
                text = json.dumps({"value": value}).encode()
                writer.add_message(topic, log_time=stamp, data=text, publish_time=stamp)
        writer.finish()
    return path


def ros_messages(version: int):
    """Return types and 30 messages of a stamped velocity as ROS 1 or ROS 2 has them, at 10 Hz."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE if version == 2 else Stores.ROS1_NOETIC)
    kinds, name = store.types, "geometry_msgs/msg/TwistStamped"
    vector, count = kinds["geometry_msgs/msg/Vector3"], {} if version == 2 else {"seq": 7}
    stamp = kinds["builtin_interfaces/msg/Time"](sec=5, nanosec=6)
    header = kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="base", **count)
    write = store.serialize_cdr if version == 2 else store.serialize_ros1
    found = []
    for i in range(30):
        linear, angular = vector(x=0.5 * i, y=0.0, z=1.0), vector(x=2.0, y=3.0, z=-i)
        twist = kinds["geometry_msgs/msg/Twist"](linear=linear, angular=angular)
        message = kinds[name](header=header, twist=twist)
        found.append((int((BEGIN * 10 + i) * 10**8), bytes(write(message, name))))
    return store, name, found


def write_ros_mcap(path: Path, *, version: int) -> Path:
    """Write the messages of ROS as MCAP."""
    from mcap.writer import Writer

    store, name, messages = ros_messages(version)
    text, _ = store.generate_msgdef(name, ros_version=version)
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile=f"ros{version}")
        schema = writer.register_schema(
            name=name if version == 2 else name.replace("/msg", ""),
            encoding=f"ros{version}msg", data=text.encode(),
        )  # fmt: skip
        topic = writer.register_channel(
            topic="/twist", message_encoding="cdr" if version == 2 else "ros1", schema_id=schema
        )
        for time, data in messages:
            writer.add_message(topic, log_time=time, data=data, publish_time=time)
        writer.finish()
    return path


def write_bag(path: Path, *, storage: str | None = None) -> Path:
    """Write the messages of ROS as a bag: a file of ROS 1, or with a storage a folder of ROS 2."""
    from rosbags import rosbag1, rosbag2

    store, name, messages = ros_messages(1 if storage is None else 2)
    if storage is None:
        writer = rosbag1.Writer(path)
    else:
        plugin = rosbag2.StoragePlugin[storage.upper()]
        writer = rosbag2.Writer(path, version=9, storage_plugin=plugin)
    with writer:
        topic = writer.add_connection("/twist", name, typestore=store)
        for time, data in messages:
            writer.write(topic, time, data)
    return path


def _dated(mdf):
    from datetime import UTC, datetime

    mdf.start_time = datetime.fromtimestamp(BEGIN, UTC)
    return mdf
