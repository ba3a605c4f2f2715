from __future__ import annotations

import socket
import threading
import time

import numpy as np
import pytest

from axonad.data.readers.table import End, Piece
from axonad.data.readers.wire import (
    ClosedError,
    receive_header,
    receive_piece,
    send,
    send_piece,
)
from axonad.data.series import Series


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def pass_on(ends, piece, buffer=None):
    """Send a piece from one end to the other; a thread sends, as a socket holds little."""
    ours, theirs = ends
    thread = threading.Thread(target=send_piece, args=(theirs, piece))
    thread.start()
    deadline = time.monotonic() + 10
    found = receive_piece(ours, receive_header(ours, deadline), deadline, buffer)
    thread.join()
    return found


@pytest.mark.parametrize(
    "times",
    [
        None,
        np.arange(3),
        np.array([0.5, np.nan, 1]),
        np.array(["2026-01-01", "NaT", "2026-01-02"], dtype="datetime64[us]"),
        np.array(["a", None, "µ\ud800\n"], dtype=object),
        np.arange(3).astype("timedelta64[ns]"),
    ],
)
def test_a_piece_arrives_as_it_was_sent(ends, times):
    values = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, np.inf]])
    labels = np.array([0, 1, 0], np.int8)
    series = Series(values=values, channels=("a", "b\n"), labels=labels, times=times, name="x")
    found = pass_on(ends, Piece(series, 9, ("note",)))
    np.testing.assert_array_equal(found.series.values, values)
    assert (found.series.channels, found.series.name, found.rows) == (("a", "b\n"), "x", 9)
    assert found.series.labels.tolist() == [0, 1, 0]
    assert found.notes == ("note",)
    end = pass_on(ends, End(times, "text", ("note",)))
    assert (end.time_kind, end.notes) == ("text", ("note",))
    for arrived in (found.series.times, end.times):
        if times is None:
            assert arrived is None
        else:
            assert arrived.dtype == times.dtype
            np.testing.assert_array_equal(arrived, times)


def test_large_values_arrive_in_a_given_array(ends):
    values = np.random.default_rng(0).normal(size=(100_000, 4))
    target = np.empty((100_000, 4))
    piece = Piece(Series(values=values, channels=tuple("abcd")))
    found = pass_on(ends, piece, lambda header: target)
    assert found.series.values is target
    np.testing.assert_array_equal(target, values)


@pytest.mark.parametrize(
    ("arrays", "blob"),
    [
        ({"values": ["|O", [1, 1]]}, b"12345678"),
        ({"values": ["<f8", [2, 1]]}, b"12345678"),
        ({"values": ["|V8", [1, 1]]}, b"12345678"),
    ],
)
def test_arrays_of_other_types_and_sizes_are_not_taken(ends, arrays, blob):
    ours, theirs = ends
    send(theirs, {"is": "piece", "arrays": arrays, "channels": ["a"]}, [blob])
    with pytest.raises(ClosedError):
        receive_piece(ours, receive_header(ours), time.monotonic() + 1, None)


def test_a_silent_and_a_closed_connection(ends):
    ours, theirs = ends
    with pytest.raises(TimeoutError):
        receive_header(ours, time.monotonic() + 0.01)
    theirs.sendall(b"\xff" * 8)
    with pytest.raises(ClosedError, match="a header of"):
        receive_header(ours)
    theirs.close()
    with pytest.raises(ClosedError, match="closed"):
        receive_header(ours, time.monotonic() + 1)
