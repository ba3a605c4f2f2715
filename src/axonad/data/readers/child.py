"""The reader process: parses files for its parent, which it never outlives."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

from axonad.data.readers.limits import limit_this_process
from axonad.data.readers.request import Request, read_pieces
from axonad.data.readers.table import End, Piece
from axonad.data.readers.wire import ClosedError, receive, receive_header, send, send_piece
from axonad.errors import AxonADError
from axonad.parent_process import exit_with_parent


def main(descriptor: int, memory: int) -> None:
    """Serve the parent at the other end of a socket (the entry point of the process)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_this_process(memory)
    exit_with_parent()
    connection = socket.socket(fileno=descriptor)
    send(connection, {"is": "ready"})
    try:
        serve(connection)
    except (ClosedError, ConnectionError):
        os._exit(0)  # without waiting for the parser's threads


def serve(connection: socket.socket) -> None:
    """Answer each message with a piece of a series or an error, until the connection closes."""
    pieces: Iterator[Piece | End] = iter(())
    while True:
        header = receive_header(connection)
        if header["do"] == "close":
            pieces = iter(())
            continue
        if header["do"] == "open":
            sizes = header["sizes"]
            data = receive(connection, sizes[0]) if sizes else None
            pieces = read_pieces(Request.from_json(header["request"]), data)
        try:
            piece = next(pieces)
        except AxonADError as error:
            send(connection, describe(error))
            continue
        send_piece(connection, piece)
        del piece


def describe(error: AxonADError) -> dict[str, Any]:
    """Return an error as a message; after a failure that is not foreseen the process is done."""
    cause = error.__cause__
    is_done = cause is not None and not isinstance(cause, (OSError, ValueError))
    return {"is": "error", "class": type(error).__name__, "text": str(error), "is_done": is_done}
