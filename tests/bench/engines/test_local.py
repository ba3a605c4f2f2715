from __future__ import annotations

from axonad.bench.engines.local import default_workers, run_locally
from axonad.cores import usable_cores
from tests.bench.jobs import LONG, make_job, worker_processes


def test_closing_ends_the_jobs_that_run():
    rows = run_locally([make_job(), LONG], workers=2)
    first = next(rows)
    assert first.is_ok
    assert first.threads == max(1, usable_cores() // 2), "the cores are divided among the workers"
    assert worker_processes(), "the long job is still running"
    rows.close()
    assert not worker_processes()


def test_a_worker_per_core():
    assert default_workers("cpu") == usable_cores()


def test_no_jobs_no_rows():
    assert list(run_locally([])) == []
