"""The reader process: what happens to it, and what does not happen to its parent."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import axonad
from axonad.data.readers import limits, process
from axonad.data.readers.chunks import FileChunks
from axonad.errors import AxonADError, FileError

SECONDS = 60  # after which a test has failed


@pytest.fixture
def path(tmp_path):
    (tmp_path / "x.csv").write_text("time,a\n0,1\n1,2\n2,3\n")
    return tmp_path / "x.csv"


@pytest.fixture
def faulty(monkeypatch):
    """Start processes in which reading does something else."""

    def replace(action):
        code = f"import os, time, axonad.data.readers.csv as csv; csv.read_csv = {action}; "
        monkeypatch.setattr(process, "CODE", process.CODE.replace("main(int", f"{code}main(int"))
        process.close_all()

    yield replace
    process.close_all()


def idle_process():
    (reader,) = process._idle
    return reader


def test_one_process_reads_all_files(path):
    axonad.read(path)
    reader = idle_process()
    for _ in range(3):
        axonad.read(path)
        next(iter(FileChunks(path, size=1)))
    assert idle_process() is reader


def test_a_forked_process_reads_in_its_own(path):
    axonad.read(path)
    first = idle_process().pid
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def work():
        series = axonad.read(path)
        sender.send((series.values.tolist(), idle_process().pid))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
    child.join(SECONDS)
    is_alive = child.is_alive()
    child.kill()
    assert not is_alive, "reading in a forked process hangs"
    assert receiver.poll()
    values, second = receiver.recv()
    assert values == [[1.0], [2.0], [3.0]]
    assert second != first
    assert len(axonad.read(path)) == 3
    assert idle_process().pid == first, "that of the parent lives on"


def test_threads_read_at_once(path, tmp_path):
    wrong = []

    def work(number):
        mine = tmp_path / f"{number}.csv"
        mine.write_text(f"a\n{number}\n")
        chunks = iter(FileChunks(path, size=1))
        next(chunks)
        if axonad.read(mine).values.tolist() != [[number]] or len(list(chunks)) != 2:
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong
    assert len(process._idle) == len(process._all) == 1, "the others have ended"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("lambda *a, **k: os.abort()", r"the reader process died \(SIGABRT.*\)"),
        ("lambda *a, **k: os._exit(3)", r"the reader process died \(exit code 3\)"),
        ("lambda *a, **k: (os.write(2, b'x\\nlast words\\n'), os._exit(1))",
         r"the reader process died \(exit code 1: last words\)"),
        ("lambda *a, **k: time.sleep(99)", r"the reader process was stopped after \d+ s without"),
        ("lambda *a, **k: bytearray(2**34)", "it needs more memory than this machine has"),
    ],
)  # fmt: skip
def test_a_crash_costs_a_sentence(path, faulty, monkeypatch, action, message):
    if "bytearray" in action and sys.platform != "linux":
        pytest.skip("other systems do not enforce the limit")
    faulty(action)
    monkeypatch.setattr(limits, "SECONDS", 0.5 if "sleep" in action else SECONDS)
    monkeypatch.setattr(limits, "process_memory", lambda: 2**32)
    with pytest.raises(FileError, match=rf"x\.csv cannot be read as CSV: {message}") as caught:
        axonad.read(path)
    assert len(str(caught.value).splitlines()) == 1
    assert not process._all
    monkeypatch.undo()
    assert len(axonad.read(path)) == 3, "the next file has a new process"


def test_an_interrupt_ends_the_process(path, monkeypatch):
    axonad.read(path)
    reader = idle_process()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "receive_header", interrupt)
    with pytest.raises(KeyboardInterrupt):
        axonad.read(path)
    assert reader._process.returncode is not None
    assert not process._all
    monkeypatch.undo()
    assert len(axonad.read(path)) == 3


def test_a_process_that_ended_is_replaced(path):
    axonad.read(path)
    reader = idle_process()
    reader._process.kill()
    reader._process.wait()
    assert len(axonad.read(path)) == 3
    assert idle_process() is not reader


@pytest.mark.parametrize("executable", ["", "/does/not/exist", "/bin/true"])
def test_without_a_process_files_are_read_in_this_one(path, monkeypatch, executable):
    process.close_all()
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(process, "_can_start", True)
    assert len(axonad.read(path)) == 3
    assert [len(chunk) for chunk in FileChunks(path, size=2)] == [2, 1]
    assert not process._all
    path.write_text("a\nx\n")
    with pytest.raises(AxonADError, match="'x' in row 0"):
        axonad.read(path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_process_ends_with_its_parent(path, end):
    code = (
        "import os, axonad; from axonad.data.readers import process\n"
        f"axonad.read({str(path)!r}); print(process._idle[0].pid, flush=True); {end}"
    )
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ran.stderr == ""
    deadline = time.monotonic() + SECONDS
    while is_running(int(ran.stdout)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(int(ran.stdout))


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_modules_beside_the_data_are_not_imported(path, monkeypatch):
    process.close_all()
    monkeypatch.chdir(path.parent)
    for name in ("polars", "json", "numpy"):
        (path.parent / f"{name}.py").write_text("raise SystemExit('wrong module')")
    assert len(axonad.read("x.csv")) == 3
    assert idle_process().is_usable
