from __future__ import annotations

import socket
import threading
import time

import pytest

from axonad.data.readers.asked import Asked
from axonad.data.readers.child import describe, serve
from axonad.data.readers.request import Request
from axonad.data.readers.wire import ClosedError, receive_header, receive_piece, send
from axonad.errors import ChannelError, FileError


@pytest.fixture
def connection():
    ours, theirs = socket.socketpair()

    def run():
        with pytest.raises(ClosedError), theirs:
            serve(theirs)

    thread = threading.Thread(target=run)
    thread.start()
    with ours:
        yield ours
    thread.join(10)
    assert not thread.is_alive()


def ask(connection, message, blobs=()):
    send(connection, message, blobs)
    deadline = time.monotonic() + 10
    header = receive_header(connection, deadline)
    if header["is"] == "error":
        return header
    return receive_piece(connection, header, deadline, None)


def opening(path, **options):
    asked = Asked.of(label=options.pop("label", None))
    request = Request.of(path, asked, **options)
    return {"do": "open", "request": request.to_json()}


def test_files_are_answered_piece_by_piece_and_errors_by_name(connection, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\n3\n")
    assert ask(connection, opening(path, rows=2)).series.values.tolist() == [[1], [2]]
    assert ask(connection, {"do": "next"}).series.values.tolist() == [[3]]
    assert ask(connection, {"do": "next"}).notes == ()
    send(connection, {"do": "close"})
    error = ask(connection, opening(path, label="b"))
    assert (error["class"], error["is_done"]) == ("ChannelError", False)
    assert "has no column 'b'" in error["text"]
    assert ask(connection, opening(path, rows=1)).series.values.tolist() == [[1]]
    data = opening(path)
    assert ask(connection, data, [b"a\n7\n"]).series.values.tolist() == [[7]], "bytes"


def test_a_process_is_done_after_a_failure_that_is_not_foreseen():
    assert not describe(ChannelError("x"))["is_done"]
    error = FileError("x")
    error.__cause__ = MemoryError()
    assert describe(error) == {"is": "error", "class": "FileError", "text": "x", "is_done": True}
