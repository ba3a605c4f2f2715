"""The Ray engine: jobs run on all machines of a Ray cluster and give the rows of the local engine.

Every Ray actor owns one :class:`~axonad.bench.engines.worker.Worker`, so limits and failures work
as in the local engine. The driver reads each series once and puts it into Ray's object store: other
machines need the package, not the data. If a machine is lost, its running jobs are queued again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from axonad.bench.engines.worker import Worker
from axonad.bench.evaluation import failed_row
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import load
from axonad.cores import usable_cores
from axonad.errors import ConfigError
from axonad.extras import need

ATTEMPTS = 3  # limit of lost machines per job, and of failed actor starts in a row
POLL_SECONDS = 1.0  # longest wait for an answer of the cluster


def run_on_ray(
    jobs: Iterable[Job],
    *,
    setting: Setting | None = None,
    workers: int | None = None,
    address: str | None = None,
) -> Generator[Row]:
    """Yield the rows of jobs as they finish anywhere in the cluster.

    ``address`` is that of an existing cluster (``"auto"``, ``"ray://host:10001"``); without one,
    and without RAY_ADDRESS, Ray starts on this machine until the generator ends. ``workers``
    defaults to one per core of the cluster.
    """
    ray = need("ray", what="--engine ray needs")
    started_here = not ray.is_initialized()
    if started_here:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError(f"no Ray cluster at {address!r}: {error}") from None
    pool = ActorPool(ray, setting or Setting(), deque(jobs), workers)
    try:
        yield from pool.run_jobs()
    finally:
        pool.kill_actors()
        if started_here:
            ray.shutdown()


@dataclass
class ActorPool:
    """The actors of a run, the jobs they are working on, and the jobs still queued.

    The keys of ``starting`` and ``running`` are Ray's references to answers that are still to come.
    """

    ray: Any
    setting: Setting
    queue: deque[Job]
    workers: int | None
    starting: dict[Any, Any] = field(default_factory=dict)  # answer of ready() -> actor
    running: dict[Any, tuple[Any, Job]] = field(default_factory=dict)  # row -> actor, job
    idle: list[Any] = field(default_factory=list)
    losses: dict[str, int] = field(default_factory=dict)  # job key -> machines lost with it
    store: dict[str, Any] = field(default_factory=dict)  # series name -> Ray's object reference
    failed_starts: int = 0  # in a row

    def run_jobs(self) -> Iterator[Row]:
        """Yield rows until no job is left."""
        total = self.ray.cluster_resources()
        count = self.workers or max(1, int(total.get("CPU", 1)))
        self.count = max(1, min(count, len(self.queue)))
        self.start_actor = self._actor_factory(total)
        while self.queue or self.running:
            while len(self.starting) + len(self.idle) + len(self.running) < self.count:
                actor = self.start_actor()
                self.starting[actor.ready.remote()] = actor
            yield from self._assign()
            yield from self._collect()

    def kill_actors(self) -> None:
        """End every actor."""
        busy = [actor for actor, _ in self.running.values()]
        for actor in [*self.starting.values(), *self.idle, *busy]:
            self.ray.kill(actor)

    def _actor_factory(self, total: dict[str, float]) -> Any:
        """Return a function that starts an actor with its share of cores and GPUs."""
        share = {"num_cpus": 1.0, "max_restarts": 0}
        if self.setting.device not in ("cpu", "mps") and total.get("GPU"):
            share["num_gpus"] = min(1.0, total["GPU"] / self.count)
        threads = max(1, int(total.get("CPU", 1)) // self.count)
        remote = self.ray.remote(**share)
        return lambda: remote(Actor).remote(self.setting, threads)

    def _assign(self) -> Iterator[Row]:
        """Give queued jobs to idle actors; yield the rows of jobs whose series cannot be read."""
        while self.queue and self.idle:
            job = self.queue.popleft()
            try:
                if job.series.name not in self.store:
                    self.store[job.series.name] = self.ray.put(load(job.series))
            except Exception as error:  # fails this job only
                reason = f"{type(error).__name__}: {error}"
                yield failed_row(job, status="failed", reason=reason)
                continue
            actor = self.idle.pop()
            answer = actor.run_job.remote(job, self.store[job.series.name])
            self.running[answer] = (actor, job)

    def _collect(self) -> Iterator[Row]:
        """Wait for one answer: an actor that has started, a row, or the loss of a machine."""
        waiting = [*self.starting, *self.running]
        if not waiting:
            return
        ready, _ = self.ray.wait(waiting, num_returns=1, timeout=POLL_SECONDS)
        for answer in ready:
            if answer in self.starting:
                self._admit(answer)
            else:
                yield from self._receive(answer)

    def _admit(self, answer: Any) -> None:
        """Add an actor that has started to the idle ones; a failed start is repeated."""
        actor = self.starting.pop(answer)
        try:
            self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            self.failed_starts += 1
            if self.failed_starts >= ATTEMPTS:
                last = str(error).strip().splitlines()[-1]
                raise ConfigError(
                    f"{self.failed_starts} Ray actors in a row could not start; is the same axonad "
                    f"installed on every machine? The last one said: {last}"
                ) from None
            return
        self.failed_starts = 0
        self.idle.append(actor)

    def _receive(self, answer: Any) -> Iterator[Row]:
        """Yield the row of a finished job; queue it again if its machine was lost."""
        actor, job = self.running.pop(answer)
        try:
            row = self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            self.losses[job.key] = self.losses.get(job.key, 0) + 1
            if self.losses[job.key] < ATTEMPTS:
                self.queue.appendleft(job)
                return
            reason = f"lost with its machine {ATTEMPTS} times: {type(error).__name__}"
            row = failed_row(job, status="failed", reason=reason)
        else:
            self.idle.append(actor)
        self._release(job.series.name)
        yield row

    def _release(self, name: str) -> None:
        """Drop a series from the object store if no remaining job needs it."""
        pending = [*self.queue, *(job for _, job in self.running.values())]
        if all(job.series.name != name for job in pending):
            self.store.pop(name, None)


class Actor:
    """A Ray actor: one worker process on a machine of the cluster."""

    def __init__(self, setting: Setting, threads: int) -> None:
        self._worker = Worker(setting, threads=min(threads, usable_cores()))

    def ready(self) -> bool:
        """Answer once the actor has started."""
        return True

    def run_job(self, job: Job, series: Any) -> Row:
        """Return the job's row."""
        return self._worker.run_job(job, series)
