import os
from threading import Event

from axonad.live.sources.lines import MAX_LINE, LinesSource
from tests.live.sources.fake_engine import FakeEngine, wait_for


def line(time):
    return b'{"vehicle": "a", "time": %d, "x": 1}\n' % time


def run(engine, data, tmp_path):
    """Read the lines of a file to its end; return the status."""
    path = tmp_path / "lines"
    path.write_bytes(data)
    ended = Event()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        source = LinesSource(descriptor, on_end=ended.set)
        source.start(engine)
        wait_for(ended.is_set, "the end")
        source.stop()
    finally:
        os.close(descriptor)
    return source.status()


def test_all_lines_are_stored_before_the_end(tmp_path):
    engine = FakeEngine()
    lines = [line(i) for i in range(3_000)]
    lines[1_000] = b"\r\n"
    lines[2_000] = b"broken\n"
    status = run(engine, b"".join(lines).rstrip(b"\n"), tmp_path)
    assert [s.time // 10**6 for s in engine.samples] == [
        i for i in range(3_000) if i not in (1_000, 2_000)
    ]
    assert (status.messages, status.bad, status.waiting) == (2_999, 1, 0)
    assert len(engine.stored) < 100, "lines read together are one delivery"


def test_a_line_that_is_too_long_is_one_bad_message(tmp_path):
    engine = FakeEngine()
    status = run(engine, line(1) + b"9" * (MAX_LINE + 100_000) + b"\n" + line(2), tmp_path)
    assert [s.time // 10**6 for s in engine.samples] == [1, 2]
    assert (status.messages, status.bad) == (3, 1)


def test_a_full_engine_stops_reading_until_there_is_room():
    engine = FakeEngine("full")
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    source = LinesSource(reading)
    source.start(engine)
    data = b"".join(line(i) for i in range(1_000))
    written = 0
    try:
        while True:  # the pipe is full at last, since nobody reads
            written += os.write(writing, data)
    except BlockingIOError:
        pass
    wait_for(lambda: engine.refusals > 2)
    assert engine.samples == []
    engine.mode = "store"
    os.close(writing)
    wait_for(lambda: not source.status().is_connected, "the end")
    assert source.status().messages >= written // len(data) * 1_000
    assert len(engine.samples) >= written // len(data) * 1_000
    source.stop()
    os.close(reading)
