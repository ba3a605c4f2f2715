"""Messages between this process and the reader process: JSON and the bytes of arrays.

A message is the length of its header, the header in JSON, and the bytes that the header announces.
Nothing is pickled, so a message can hold data only.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.readers.about import About
from axonad.data.readers.table import End, Piece
from axonad.data.series import Series

LENGTH = struct.Struct("<Q")
LARGEST_HEADER = 2**28
PART = 2**20  # bytes received at a time
TEXT = "text"  # the type of an object array: a list of text and null in JSON

Buffer = Callable[[dict[str, Any]], NDArray[np.float64] | None]


class ClosedError(ConnectionError):
    """The other process has closed the connection."""


def send(
    connection: socket.socket, header: dict[str, Any], blobs: Sequence[bytes | memoryview] = ()
) -> None:
    """Send one message."""
    text = json.dumps(header | {"sizes": [len(blob) for blob in blobs]}).encode()
    connection.sendall(LENGTH.pack(len(text)) + text)
    for blob in blobs:
        connection.sendall(blob)


def receive_header(connection: socket.socket, deadline: float | None = None) -> dict[str, Any]:
    """Return the header of the next message."""
    (length,) = LENGTH.unpack(receive(connection, LENGTH.size, deadline))
    if length > LARGEST_HEADER:
        raise ClosedError(f"a header of {length} bytes")
    header: dict[str, Any] = json.loads(receive(connection, length, deadline))
    return header


def receive(connection: socket.socket, size: int, deadline: float | None = None) -> bytes:
    """Return the next bytes."""
    found = bytearray(size)
    receive_into(connection, memoryview(found), deadline)
    return bytes(found)


def receive_into(
    connection: socket.socket, target: memoryview, deadline: float | None = None
) -> None:
    """Fill a buffer with the next bytes; raise ``TimeoutError`` after the deadline."""
    done = 0
    while done < len(target):
        if deadline is not None:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
        count = connection.recv_into(target[done : done + PART])
        if not count:
            raise ClosedError("the connection is closed")
        done += count


# -- pieces ------------------------------------------------------------------------------------


def send_piece(connection: socket.socket, piece: Piece | End) -> None:
    """Send a piece of a series, or what is known at its end."""
    if isinstance(piece, End):
        about = None if piece.about is None else piece.about.to_json()
        header: dict[str, Any] = {"time_kind": piece.time_kind, "about": about}
        arrays = {"times": piece.times}
    else:
        series = piece.series
        header = {"channels": series.channels, "name": series.name, "rows": piece.rows}
        header |= {"units": series.units}
        arrays = {"values": series.values, "labels": series.labels, "times": series.times}
    known = {name: array for name, array in arrays.items() if array is not None}
    described = {name: [_type_of(array), array.shape] for name, array in known.items()}
    header |= {"is": "end" if isinstance(piece, End) else "piece"}
    header |= {"arrays": described, "notes": piece.notes}
    send(connection, header, [*map(_bytes_of, known.values())])


def receive_piece(
    connection: socket.socket, header: dict[str, Any], deadline: float, buffer: Buffer | None
) -> Piece | End:
    """Return the piece that a header announces; ``buffer`` may provide the array of its values."""
    arrays: dict[str, Any] = dict.fromkeys(("values", "labels", "times"))
    described = header["arrays"].items()
    for (name, (kind, shape)), size in zip(described, header["sizes"], strict=True):
        if kind == TEXT:
            cells = json.loads(receive(connection, size, deadline))
            arrays[name] = np.array([None, *cells], dtype=object)[1:]
            continue
        target = buffer(header) if buffer is not None and name == "values" else None
        array = np.empty(shape, np.dtype(kind)) if target is None else target
        if array.nbytes != size or array.dtype.kind not in "fiuMm":
            raise ClosedError(f"{size} bytes for an array of {shape} {kind}")
        receive_into(connection, _bytes_of(array), deadline)
        arrays[name] = array
    notes = tuple(header["notes"])
    if header["is"] == "end":
        about = None if header["about"] is None else About.from_json(header["about"])
        return End(arrays["times"], header["time_kind"], notes, about)
    units = None if header["units"] is None else tuple(header["units"])
    series = Series(channels=tuple(header["channels"]), name=header["name"], units=units, **arrays)
    return Piece(series, header["rows"], notes)


def _type_of(array: NDArray[Any]) -> str:
    return TEXT if array.dtype.kind == "O" else array.dtype.str


def _bytes_of(array: NDArray[Any]) -> memoryview:
    if array.dtype.kind == "O":
        return memoryview(json.dumps(array.tolist()).encode())
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).data
