"""A worker of the bench without a process of its own, for tests of something else than processes.

A process costs two to three seconds of CPU time before its first job.
"""

from __future__ import annotations

import threading
import warnings

import pytest

from axonad.bench.execute import execute

ONE_AT_A_TIME = threading.Lock()


class WorkerHere:
    """Runs jobs as ``axonad.bench.engines.worker.Worker`` does, in this process."""

    pid = None

    def __init__(self, setting, *, threads=1):
        self._setting = setting

    def run_job(self, job, series=None):
        with ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return execute(job, self._setting, series=series)

    def close(self):
        """There is nothing to end."""


@pytest.fixture
def in_process(monkeypatch):
    """Run the jobs of the local engine in this process."""
    monkeypatch.setattr("axonad.bench.engines.local.Worker", WorkerHere)
