"""The local engine: jobs run in worker processes on this machine, by default one per core."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress

from axonad.bench.engines.worker import StoppedError, Worker
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.machine import cores
from axonad.bench.row import Row

MAX_PER_GPU = 12  # small fits that share one GPU well


def run_locally(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Yield the rows of jobs in the order in which the jobs finish.

    The cores are divided among the workers, so that their threads do not compete. Closing the
    generator, or an interrupt, ends all workers; a job that was running leaves no row.
    """
    setting = setting or Setting()
    waiting = list(jobs)
    count = max(1, min(workers or default_workers(setting.device), len(waiting)))
    team = [Worker(setting, threads=max(1, cores() // count)) for _ in range(count)]
    todo, done = iter(waiting), queue.SimpleQueue[Row | BaseException]()
    lock = threading.Lock()

    def work(worker: Worker) -> None:
        try:
            while True:
                with lock:
                    job = next(todo, None)
                if job is None:
                    return
                done.put(worker.run_job(job))
        except StoppedError:
            return
        except BaseException as error:  # raised again in the caller's thread
            done.put(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in team]
    try:
        for thread in threads:
            thread.start()
        for _ in waiting:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        for worker in team:
            worker.close()
        for thread in threads:
            with suppress(RuntimeError):  # never started
                thread.join(timeout=10)


def default_workers(device: str | None) -> int:
    """Return one worker per core, at most ``MAX_PER_GPU`` if jobs use a GPU."""
    if device not in ("cpu", "mps"):
        import torch

        if torch.cuda.is_available():
            return min(MAX_PER_GPU, cores())
    return cores()
