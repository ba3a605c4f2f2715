"""A Ray cluster as the engine needs it: connected or started, with one actor per part."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from axonad.errors import ConfigError
from axonad.extras import need
from axonad.live.config import LiveConfig
from axonad.live.engine.partition import Partition
from axonad.live.engine.sending import explain

THREADS = 8  # of an actor: one takes samples, the others answer questions
START = 120.0  # seconds in which all actors must have started
PATHS = ("_file", "tls_ca", "tls_cert", "tls_key")  # how keys end that name a file


class Cluster:
    """A connection to a Ray cluster, or one started on this machine.

    Parameters
    ----------
    config
        Its table ``[engine]`` says where, and how many actors.
    """

    def __init__(self, config: LiveConfig) -> None:
        self.ray = need("ray", what="the Ray engine needs")
        self._config = config
        self._started_here = not self.ray.is_initialized()
        if self._started_here:
            self._connect(config.engine.address or os.environ.get("RAY_ADDRESS", "local"))

    def start_actors(self, files: Mapping[str, bytes], *, new_model: bool) -> list[Any]:
        """Return an actor for each part, as soon as all have resumed."""
        ray, parts = self.ray, self._config.engine.actors
        threads = str(self._config.engine.threads)
        remote = ray.remote(
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=THREADS,
            scheduling_strategy=self._place(),
            runtime_env={"env_vars": {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}},
        )
        actor = remote(_with_model(files))
        config, new = with_absolute_paths(self._config), new_model
        actors = [
            actor.remote(config, number=number, parts=parts, new_model=new)
            for number in range(parts)
        ]
        try:
            self._await(actors)
        except BaseException:
            self.end_actors(actors)
            raise
        return actors

    def end_actors(self, actors: Sequence[Any]) -> None:
        """End the processes of actors at once; they are not started again."""
        for actor in actors:
            self.ray.kill(actor)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._started_here:
            self.ray.shutdown()

    def _connect(self, address: str) -> None:
        here: dict[str, Any] = {}
        if address == "local":
            here = {"num_cpus": max(self._config.engine.actors, os.cpu_count() or 1)}
        try:
            self.ray.init(
                address=address, log_to_driver=False, include_dashboard=False,
                logging_level="ERROR", **here,
            )  # fmt: skip
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            raise ConfigError(
                f"no Ray cluster answers at {address!r} (address of [engine]): {error}"
            ) from None

    def _place(self) -> Any:
        """Return where actors run: with stores in files on this machine only, else anywhere."""
        if not self._config.store.url.startswith("sqlite:"):
            return "DEFAULT"
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = self.ray.get_runtime_context().get_node_id()
        return NodeAffinitySchedulingStrategy(here, soft=False)

    def _await(self, actors: Sequence[Any]) -> None:
        answers = [actor.ready.remote() for actor in actors]
        done, waiting = self.ray.wait(answers, num_returns=len(answers), timeout=START)
        for answer in done:
            try:
                self.ray.get(answer)
            except self.ray.exceptions.ActorDiedError as error:
                last = str(error).strip().splitlines()[-1]
                raise ConfigError(
                    "an actor cannot start; is the same axonad installed on every machine of the "
                    f"cluster? It said: {last}"
                ) from None
            except self.ray.exceptions.RayError as error:
                raise explain(error) from None
        if waiting:
            cpus = self.ray.cluster_resources().get("CPU", 0.0)
            raise ConfigError(
                f"{len(waiting)} of {len(actors)} actors have not started within {START:.0f} s; "
                f"each needs a CPU, and the cluster has {cpus:g}: add machines, or lower actors "
                f"of [engine]"
            )


def with_absolute_paths(config: LiveConfig) -> LiveConfig:
    """Return a configuration that names the same files in every working directory."""

    def table(known: Any) -> Any:
        changed = {
            field.name: str(Path(value).absolute())
            for field in fields(known)
            if field.name.endswith(PATHS) and (value := getattr(known, field.name))
        }
        return replace(known, **changed)

    tables = {field.name: getattr(config, field.name) for field in fields(config)}
    found = {name: table(known) for name, known in tables.items() if is_dataclass(known)}
    kind, _, path = config.store.url.partition(":")
    if kind == "sqlite" and path != ":memory:":
        found["store"] = replace(found["store"], url=f"sqlite:{Path(path).absolute()}")
    return replace(config, **found)


def _with_model(files: Mapping[str, bytes]) -> type:
    """Return the class of parts with this model in it.

    Ray keeps classes for as long as the cluster runs, so that an actor can restart without this
    process; what is only given to its constructor might be gone.
    """

    class PartWithModel(Partition):
        def __init__(self, config: LiveConfig, **options: Any) -> None:
            super().__init__(files, config, **options)

    return PartWithModel
