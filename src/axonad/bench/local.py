"""Jobs on this machine: one process per worker, as many as there are cores."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress

from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.machine import cores
from axonad.bench.row import Row
from axonad.bench.worker import StoppedError, Worker

MOST_ON_A_CARD = 12  # small fits that share one graphics card well


def run(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Yield the rows of jobs as they finish, in the order in which they finish.

    The cores are shared out among the workers, so that their threads do not fight. Closing the
    iterator, or an interrupt, ends all workers; a job that was running leaves no row.
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
                done.put(worker.run(job))
        except StoppedError:
            return
        except BaseException as error:  # handed to the caller, who is in another thread
            done.put(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in team]
    try:
        for thread in threads:
            thread.start()
        for _ in waiting:
            result = _next(done)
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
    """Return how many workers suit: one per core, several small fits to a graphics card."""
    if device not in ("cpu", "mps"):
        import torch

        if torch.cuda.is_available():
            return min(MOST_ON_A_CARD, cores())
    return cores()


def _next(done: queue.SimpleQueue[Row | BaseException]) -> Row | BaseException:
    """Wait for the next result; in short naps, so that an interrupt is heard everywhere."""
    while True:
        with suppress(queue.Empty):
            return done.get(timeout=0.5)
