"""Workers: processes of their own, limits, crashes, and a run that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from axonad.bench import local
from axonad.bench.execute import Setting, execute
from axonad.bench.machine import cores, thread_environment
from axonad.bench.results import Results, read_rows
from axonad.bench.run import pending, run_jobs
from axonad.bench.suite import read_suite
from axonad.bench.worker import Worker
from axonad.errors import ConfigError, MissingDependencyError
from tests.bench.jobs import SUITE, make_job, steady, write_suite

LONG = make_job(params=make_job().params | {"epochs": 100_000, "validation": 0.0})


@pytest.fixture
def worker():
    made = []

    def make(**limits):
        made.append(Worker(Setting(**limits)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_worker_gives_the_row_of_this_process(worker):
    used = worker()
    assert steady([used.run(make_job())]) == steady([execute(make_job())])
    process = used._process
    assert used.run(make_job(seed=4)).seed == 4
    assert used._process is process, "the process is used again"


def test_a_job_that_takes_too_long_is_a_row(worker):
    used = worker(time_limit=0.5)
    row = used.run(LONG)
    assert (row.status, row.reason) == ("timeout", "took longer than the limit of 0.5 s")
    row = used.run(make_job(params=make_job().params | {"window": 4000}))
    assert row.reason.startswith("InputError"), "the next job has a new process"


def test_a_job_that_takes_too_much_memory_is_a_row(worker, monkeypatch):
    wide = make_job(params=LONG.params | {"d_model": 512, "window": 200, "batch_size": 512})
    row = worker(memory_limit=100).run(wide)
    assert (row.status, row.reason) == ("memory", "took more memory than the limit of 100 MiB")
    monkeypatch.setattr("axonad.bench.worker.process_memory", lambda *_: None)
    with pytest.raises(MissingDependencyError, match="memory limit needs the package psutil"):
        worker(memory_limit=100)


def test_a_crash_of_the_interpreter_is_a_row(worker):
    used = worker()

    def kill():
        while used._process is None:
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(used._process.pid, signal.SIGSEGV)

    threading.Thread(target=kill).start()
    row = used.run(LONG)
    assert row.status == "failed"
    assert row.reason.startswith("the process was ended by signal 11")


def test_a_process_that_never_comes_up_is_a_row(worker, monkeypatch):
    monkeypatch.setattr("axonad.bench.worker.START_LIMIT", 0.0)
    monkeypatch.setattr("axonad.bench.worker.PATIENCE", 0.1)
    row = worker().run(make_job())
    assert (row.status, row.reason) == ("failed", "the process did not answer")


def test_closing_ends_the_jobs_that_run():
    rows = local.run([make_job(), LONG], workers=2)
    assert next(rows).is_ok
    started = time.monotonic()
    rows.close()
    assert time.monotonic() - started < 30, "nobody waits for the long job"
    left = [
        child for child in psutil.Process().children() if "bench.worker" in str(child.cmdline())
    ]
    assert not left, "no worker is left behind"


def test_cores_are_shared_out():
    assert thread_environment(3)["OMP_NUM_THREADS"] == "3"
    rows = list(local.run([make_job(), make_job(seed=2)], workers=2))
    assert {row.threads for row in rows} == {max(1, cores() // 2)}
    assert local.default_workers("cpu") == cores()


def test_waiting_threads_sleep_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "active"


def test_no_jobs_no_rows(tmp_path):
    assert list(local.run([])) == []
    with (
        Results(tmp_path) as results,
        pytest.raises(ConfigError, match="engine must be one of local, together, ray, got 'dask'"),
    ):
        list(run_jobs([], results, engine="dask"))


def test_a_killed_run_resumes_without_repeating_or_losing_a_row(tmp_path):
    """kill -9 in the middle, resume: the rows of a run that nobody disturbed."""
    suite = write_suite(tmp_path, SUITE.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]"))
    undisturbed = list(local.run(read_suite(suite).jobs(), workers=2))
    folder = tmp_path / "killed"
    words = [sys.executable, "-m", "axonad", "bench", "run", str(suite), "--out", str(folder),
             "--workers", "2"]  # fmt: skip
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    rows = folder / "rows.csv"
    deadline = time.monotonic() + 120
    while not rows.exists() or rows.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = rows.read_bytes()
    assert 2 <= len(read_rows(folder)) < 6
    with Results(folder) as results:
        todo = pending(read_suite(suite).jobs(), results.rows)
        assert len(todo) == 6 - len(results.rows)
        list(run_jobs(todo, results, workers=2))
    assert rows.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert rows.read_bytes().count(b"\n") == 7, "no job ran twice"
    assert steady(read_rows(folder)) == steady(undisturbed)
