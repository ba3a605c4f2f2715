"""Jobs on a Ray cluster: the same rows from more than one machine.

Every Ray actor keeps one :class:`~axonad.bench.worker.Worker`, so limits and failures are those of
the local engine. The driver reads each series once and puts it into Ray's object store: the other
machines need the package, not the data. A machine that is lost costs its running jobs, which go
back to the queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.judge import failure
from axonad.bench.machine import cores
from axonad.bench.row import Row
from axonad.bench.sources import SeriesRef, load
from axonad.bench.worker import Worker
from axonad.errors import ConfigError, MissingDependencyError

ATTEMPTS = 3  # machines a job may take down before it is given up
WAIT = 1.0  # seconds between two looks at the cluster


def run(
    jobs: Iterable[Job],
    *,
    setting: Setting | None = None,
    workers: int | None = None,
    address: str | None = None,
) -> Generator[Row]:
    """Yield the rows of jobs as they finish somewhere in the cluster.

    ``address`` is that of an existing cluster (``"auto"``, ``"ray://host:10001"``); without one,
    and without RAY_ADDRESS, Ray starts on this machine for the length of the run. ``workers``
    defaults to one per core of the cluster.
    """
    ray = _import_ray()
    started_here = not ray.is_initialized()
    if started_here:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError(f"no Ray cluster at {address!r}: {error}") from None
    crew = _Crew(ray, setting or Setting(), jobs=list(jobs), wanted=workers)
    try:
        yield from crew.work()
    finally:
        crew.dismiss()
        if started_here:
            ray.shutdown()


@dataclass
class _Crew:
    """Actors, what they are doing, and what is still to do."""

    ray: Any
    setting: Setting
    jobs: list[Job]
    wanted: int | None
    queue: deque[Job] = field(default_factory=deque)
    starting: dict[Any, Any] = field(default_factory=dict)  # its first answer -> actor
    running: dict[Any, tuple[Any, Job]] = field(default_factory=dict)  # row to come -> actor, job
    idle: list[Any] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    store: dict[str, Any] = field(default_factory=dict)  # series -> where Ray keeps it
    unborn: int = 0  # actors in a row that did not start

    def work(self) -> Iterator[Row]:
        """Yield rows until no job is left."""
        self.queue.extend(self.jobs)
        total = self.ray.cluster_resources()
        count = self.wanted or max(1, int(total.get("CPU", 1)))
        self.count = max(1, min(count, len(self.jobs)))
        self.remote = self._remote(total)
        while self.queue or self.running:
            self._hire()
            yield from self._assign()
            yield from self._collect()

    def dismiss(self) -> None:
        """End every actor."""
        busy = [actor for actor, _ in self.running.values()]
        for actor in [*self.starting.values(), *self.idle, *busy]:
            self.ray.kill(actor)

    def _remote(self, total: dict[str, float]) -> Any:
        """Return the actor class with its share of cores and graphics cards."""
        share = {"num_cpus": 1.0, "max_restarts": 0}
        if self.setting.device not in ("cpu", "mps") and total.get("GPU"):
            share["num_gpus"] = min(1.0, total["GPU"] / self.count)
        threads = max(1, int(total.get("CPU", 1)) // self.count)
        options = self.ray.remote(**share)
        return lambda: options(_Actor).remote(self.setting, threads)

    def _hire(self) -> None:
        while len(self.starting) + len(self.idle) + len(self.running) < self.count:
            actor = self.remote()
            self.starting[actor.ready.remote()] = actor

    def _assign(self) -> Iterator[Row]:
        while self.queue and self.idle:
            job = self.queue.popleft()
            try:
                subject = self._put(job.series)
            except Exception as error:  # a series that cannot be read fails its jobs, not the run
                yield failure(job, status="failed", reason=f"{type(error).__name__}: {error}")
                continue
            actor = self.idle.pop()
            self.running[actor.run.remote(job, subject)] = (actor, job)

    def _collect(self) -> Iterator[Row]:
        """Take what has finished: actors that are ready, rows, and machines that were lost."""
        waiting = [*self.starting, *self.running]
        if not waiting:
            return
        ready, _ = self.ray.wait(waiting, num_returns=1, timeout=WAIT)
        for answer in ready:
            if answer in self.starting:
                self._greet(answer)
            else:
                yield from self._receive(answer)

    def _greet(self, answer: Any) -> None:
        actor = self.starting.pop(answer)
        try:
            self.ray.get(answer)
        except self.ray.exceptions.RayError as error:  # lost before it began: _hire finds another
            self.unborn += 1
            if self.unborn >= ATTEMPTS:
                last = str(error).strip().splitlines()[-1]
                raise ConfigError(
                    f"{self.unborn} Ray actors in a row could not start; is the same axonad "
                    f"installed on every machine? The last one said: {last}"
                ) from None
            return
        self.unborn = 0
        self.idle.append(actor)

    def _receive(self, answer: Any) -> Iterator[Row]:
        actor, job = self.running.pop(answer)
        try:
            row = self.ray.get(answer)
        except self.ray.exceptions.RayError as error:  # the machine, not the job: try elsewhere
            self.attempts[job.key] = self.attempts.get(job.key, 0) + 1
            if self.attempts[job.key] < ATTEMPTS:
                self.queue.appendleft(job)
                return
            reason = f"lost with its machine {ATTEMPTS} times: {type(error).__name__}"
            row = failure(job, status="failed", reason=reason)
        else:
            self.idle.append(actor)
        self._forget(job.series)
        yield row

    def _put(self, series: SeriesRef) -> Any:
        if series.name not in self.store:
            self.store[series.name] = self.ray.put(load(series))
        return self.store[series.name]

    def _forget(self, series: SeriesRef) -> None:
        """Let go of a series no job needs any more."""
        pending = [*self.queue, *(job for _, job in self.running.values())]
        if all(job.series.name != series.name for job in pending):
            self.store.pop(series.name, None)


class _Actor:
    """One worker process on some machine of the cluster."""

    def __init__(self, setting: Setting, threads: int) -> None:
        self._worker = Worker(setting, threads=min(threads, cores()))

    def ready(self) -> bool:
        """Answer: the actor has a place to run."""
        return True

    def run(self, job: Job, subject: Any) -> Row:
        """Return the job's row."""
        return self._worker.run(job, subject)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingDependencyError(
            "--engine ray needs the package ray; install it with: pip install 'axonad[ray]'"
        ) from None
    return ray
