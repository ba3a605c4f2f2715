"""Worker processes: limits and crashes become rows, and the next job gets a new process."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import torch

from axonad.bench.engines.worker import Worker
from axonad.bench.execute import Setting, execute
from axonad.errors import MissingDependencyError
from tests.bench.jobs import LONG, make_job, steady, worker_processes


@pytest.fixture
def worker():
    made = []

    def make(threads=1, **limits):
        made.append(Worker(Setting(**limits), threads=threads))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_worker_gives_the_row_of_this_process(worker):
    used = worker(threads=torch.get_num_threads())  # on which the rounding of sums depends
    assert steady([used.run_job(make_job())]) == steady([execute(make_job())])
    pid = used.pid
    assert used.run_job(make_job(seed=4)).seed == 4
    assert used.pid == pid, "the process is used again"


def test_a_job_over_its_time_limit_is_killed_and_becomes_a_row(worker):
    used = worker(time_limit=0.5)
    row = used.run_job(LONG)
    assert (row.status, row.reason) == ("timeout", "took longer than the limit of 0.5 s")
    assert used.pid is None
    assert not worker_processes()


def test_a_job_over_its_memory_limit_is_killed_and_becomes_a_row(worker, monkeypatch):
    wide = make_job(params=LONG.params | {"d_model": 512, "window": 200, "batch_size": 512})
    used = worker(memory_limit=100)
    row = used.run_job(wide)
    assert (row.status, row.reason) == ("memory", "took more memory than the limit of 100 MiB")
    assert used.pid is None
    monkeypatch.setattr("axonad.bench.engines.worker.process_memory", lambda *_: None)
    with pytest.raises(MissingDependencyError, match="a memory limit needs psutil, which is not"):
        worker(memory_limit=100)


def test_a_crash_is_a_row_and_the_next_job_gets_a_new_process(worker):
    used = worker()

    def crash():
        while (pid := used.pid) is None:
            time.sleep(0.01)
        os.kill(pid, signal.SIGSEGV)

    threading.Thread(target=crash).start()
    row = used.run_job(LONG)
    assert row.status == "failed"
    assert row.reason.startswith("the process was ended by signal 11")
    row = used.run_job(make_job(params=make_job().params | {"window": 4000}))
    assert row.reason.startswith("InputError")


def test_a_process_that_never_answers_is_a_row(worker, monkeypatch):
    monkeypatch.setattr("axonad.bench.engines.worker.START_SECONDS", 0.0)
    monkeypatch.setattr("axonad.bench.engines.worker.EXIT_SECONDS", 0.1)
    row = worker().run_job(make_job())
    assert (row.status, row.reason) == ("failed", "the process did not answer")
