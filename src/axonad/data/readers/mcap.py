"""MCAP files with JSON or ROS messages; see :mod:`axonad.data.readers.messages`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from axonad.data.readers.asked import Asked
from axonad.data.readers.messages import Decode, Messages, ros_decoder
from axonad.data.readers.table import Table
from axonad.extras import need

ROS = {("ros1", "ros1msg"): 1, ("cdr", "ros2msg"): 2}  # encodings of messages and definitions


def read_mcap(
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the raster of an MCAP file."""
    reader = need("mcap.reader", what="MCAP files need")
    found = Messages(name)
    with origin.open("rb") as file:
        _collect(reader.make_reader(file, validate_crcs=True), found)
    return found.to_table(asked, shown=shown_path, rows=rows)


def _collect(reader: Any, found: Messages) -> None:
    """Add all messages of a file."""
    decoders: dict[int, Decode | None] = {}
    for schema, channel, message in reader.iter_messages():
        if channel.id not in decoders:
            decoders[channel.id] = _decoder(schema, channel)
            if decoders[channel.id] is None:
                encoding = channel.message_encoding or "an unknown encoding"
                found.leave_out(channel.topic, f"messages in {encoding}")
        decode = decoders[channel.id]
        if decode is not None:
            found.add(channel.topic, message.log_time, decode(message.data))


def _decoder(schema: Any, channel: Any) -> Decode | None:
    """Return what turns the bytes of a topic's messages into a message; None if nothing does."""
    encoding = channel.message_encoding
    if encoding == "json":
        return json.loads
    version = None if schema is None else ROS.get((encoding, schema.encoding))
    if version is None:
        return None
    return ros_decoder(schema.name, schema.data.decode(), version=version)
