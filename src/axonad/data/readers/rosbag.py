"""ROS bags: ``.bag`` of ROS 1, ``.db3`` and the folders of ROS 2.

Each number in a message is a channel, as in MCAP files: see :mod:`axonad.data.readers.messages`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axonad.data.readers.asked import Asked
from axonad.data.readers.messages import Decode, Messages, ros_decoder
from axonad.data.readers.table import Table
from axonad.extras import need


def read_rosbag(
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the raster of a ROS bag: a file, or the folder of one."""
    version = 1 if origin.suffix.lower() == ".bag" else 2
    module = need(f"rosbags.rosbag{version}", what="ROS bags need")
    found = Messages(name)
    with module.Reader(origin) as reader:
        decoders: dict[int, Decode] = {}
        for connection in reader.connections:
            decode = _decoder(connection, version=version)
            if decode is None:
                why = f"messages of {connection.msgtype}, whose definition is not in the bag"
                found.leave_out(connection.topic, why)
            else:
                decoders[connection.id] = decode
        known = [one for one in reader.connections if one.id in decoders]
        for connection, time, data in reader.messages(connections=known) if known else ():
            found.add(connection.topic, time, decoders[connection.id](data))
    return found.to_table(asked, shown=shown_path, rows=rows)


def _decoder(connection: Any, *, version: int) -> Decode | None:
    """Return what turns the bytes of a topic's messages into a message; None if nothing does.

    Bags of older releases of ROS 2 do not say what their types are made of; those of ROS itself are
    known.
    """
    kind = connection.msgdef.format.name
    definition = None if kind == "NONE" else connection.msgdef.data
    try:
        return ros_decoder(connection.msgtype, definition, version=version, is_idl=kind == "IDL")
    except KeyError:
        return None
