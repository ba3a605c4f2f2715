"""The local engine: jobs run in worker processes on this machine, by default one per core."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import NamedTuple, Self

from axonad.bench.engines.worker import StoppedError, Worker
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries
from axonad.cores import usable_cores
from axonad.extras import is_installed

MAX_PER_GPU = 12  # small fits that share one GPU well


def run_locally(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Yield the rows of jobs in the order in which the jobs finish.

    Closing the generator, or an interrupt, ends all workers; a job that was running leaves no row.
    """
    waiting = list(jobs)
    with Team(setting or Setting(), jobs=len(waiting), workers=workers) as team:
        for job in waiting:
            team.add(job)
        yield from team.rest()


class _Task(NamedTuple):
    """A job, its series if it is loaded, and what to do before the job is sent to a worker."""

    job: Job
    series: LoadedSeries | None
    before: Callable[[], None] | None


class Team:
    """Worker processes that run jobs as they are added; a context manager that ends them.

    ``jobs`` is the number of jobs to come at most. The cores are divided among the workers, so that
    their threads do not compete.
    """

    def __init__(self, setting: Setting, *, jobs: int, workers: int | None = None) -> None:
        count = max(1, min(workers or default_workers(setting.device), jobs))
        self._workers = [
            Worker(setting, threads=max(1, usable_cores() // count)) for _ in range(count)
        ]
        self._todo = queue.SimpleQueue[_Task | None]()
        self._done = queue.SimpleQueue[Row | BaseException]()
        self._left = 0
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), daemon=True)
            for worker in self._workers
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.close()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            with suppress(RuntimeError):  # never started
                thread.join(timeout=10)

    def add(
        self,
        job: Job,
        *,
        series: LoadedSeries | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Let the next free worker run a job.

        ``series`` is the job's series if it is loaded already. ``before`` is called first, in a
        thread of this process.
        """
        self._left += 1
        self._todo.put(_Task(job, series, before))

    def ready(self) -> Generator[Row]:
        """Yield the rows of the jobs that have finished by now."""
        while not self._done.empty():
            yield self._next()

    def rest(self) -> Generator[Row]:
        """Yield the rows of all jobs added, in the order in which they finish."""
        while self._left:
            yield self._next()

    def _next(self) -> Row:
        result = self._done.get()
        if isinstance(result, BaseException):
            raise result
        self._left -= 1
        return result

    def _work(self, worker: Worker) -> None:
        try:
            while (task := self._todo.get()) is not None:
                if task.before is not None:
                    task.before()
                self._done.put(worker.run_job(task.job, task.series))
        except StoppedError:
            return
        except BaseException as error:  # raised again in the caller's thread
            self._done.put(error)


def default_workers(device: str | None) -> int:
    """Return one worker per core, at most ``MAX_PER_GPU`` if jobs use a GPU."""
    if device not in ("cpu", "mps") and is_installed("torch"):
        import torch

        if torch.cuda.is_available():
            return min(MAX_PER_GPU, usable_cores())
    return usable_cores()
