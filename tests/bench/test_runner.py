"""Which jobs are still to do, and a run that is killed and resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
import torch

from axonad.bench.execute import Setting, execute
from axonad.bench.results import Results, read_rows
from axonad.bench.runner import check_settings, pending, run_jobs
from axonad.bench.suite import read_suite
from axonad.cores import usable_cores
from axonad.errors import ConfigError
from tests.bench.in_process import WorkerHere
from tests.bench.jobs import SUITE, make_job, make_row, steady, write_suite


def test_what_is_still_to_do(tmp_path):
    done, failed, new = (make_job(seed=seed) for seed in (1, 2, 3))
    rows = [
        make_row(key=done.key),
        make_row(key=failed.key, status="failed", reason="x", metrics={}),
    ]
    jobs = [done, failed, new]
    assert pending(jobs, rows) == [new]
    assert pending(jobs, rows, retry_failed=True) == [failed, new]
    (tmp_path / done.fit_key).mkdir()
    assert pending(jobs, rows, rescore=tmp_path) == [], "an empty folder has no saved scores"
    assert execute(done, Setting(scores=str(tmp_path))).is_ok
    assert pending(jobs, rows, rescore=tmp_path) == [done]


def test_a_failure_does_not_replace_a_result(tmp_path, monkeypatch):
    job = make_job()
    bad = make_row(key=job.key, status="timeout", reason="slow", metrics={})
    monkeypatch.setattr("axonad.bench.runner.run_locally", lambda *_, **__: (row for row in [bad]))
    with Results(tmp_path) as results:
        results.append(make_row(key=job.key))
        assert list(run_jobs([job], results)) == [bad]
    assert [row.status for row in read_rows(tmp_path)] == ["ok"]


def test_other_settings_under_the_same_name_are_refused():
    job = make_job()
    row = make_row(params=job.params | {"epochs": 9, "device": "cuda"})
    check_settings([job], [make_row(params=job.params | {"device": "cuda"})])
    check_settings([make_job(label="other")], [row])
    with pytest.raises(ConfigError, match=r"AxonAD \(causal\) with epochs=9, now it is 1; give"):
        check_settings([job], [row])


def test_an_unknown_engine_is_refused(tmp_path):
    with (
        Results(tmp_path) as results,
        pytest.raises(ConfigError, match="engine must be one of local, together, ray, got 'dask'"),
    ):
        list(run_jobs([], results, engine="dask"))


@contextmanager
def threads_of_a_worker():
    """Give torch as many threads as in each of two workers, on which rounding depends."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, usable_cores() // 2))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def test_a_killed_run_resumes_without_repeating_or_losing_a_row(tmp_path, monkeypatch):
    """Killed by SIGKILL and resumed, it gives the rows of an undisturbed run."""
    suite = write_suite(tmp_path, SUITE.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]"))
    with threads_of_a_worker():
        undisturbed = [execute(job) for job in read_suite(suite).jobs()]
    folder = tmp_path / "killed"
    words = [sys.executable, "-m", "axonad", "bench", "run", str(suite), "--out", str(folder),
             "--workers", "2"]  # fmt: skip
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    rows = folder / "rows.csv"
    while not rows.exists() or rows.read_bytes().count(b"\n") < 3:
        assert run.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = rows.read_bytes()
    assert 2 <= len(read_rows(folder)) < 6
    with Results(folder) as results:
        todo = pending(read_suite(suite).jobs(), results.rows)
        assert len(todo) == 6 - len(results.rows)
        monkeypatch.setattr("axonad.bench.engines.local.Worker", WorkerHere)
        with threads_of_a_worker():
            list(run_jobs(todo, results, workers=1))
    assert rows.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert rows.read_bytes().count(b"\n") == 7, "no job ran twice"
    assert steady(read_rows(folder)) == steady(undisturbed)
