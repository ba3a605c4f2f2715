"""An experiment as a command: the options of ``axonad bench run``, and ``--small``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from axonad.cli.bench.options import (
    Address,
    Data,
    Detectors,
    Device,
    Engine,
    KeepScores,
    MemoryLimit,
    Out,
    ProtocolName,
    RetryFailed,
    Seeds,
    SeriesParts,
    TimeLimit,
    Workers,
)
from axonad.cli.paper.experiment import Choice, Experiment

Small = Annotated[
    bool, typer.Option("--small", help="A miniature: tiny networks on a short generated drive.")
]

Write = Annotated[
    Path | None,
    typer.Option(
        "--write", "-w", help="Folder for tables and figures. Default: beside the rows.",
        show_default=False,
    ),
]  # fmt: skip

Show = Annotated[
    bool, typer.Option("--show", help="Run nothing; show the rows there are. Needs no data.")
]


def make_command(experiment: Experiment) -> Callable[..., None]:
    """Return the function that runs an experiment from the command line."""

    def command(
        target: Out = None,
        data: Data = None,
        detectors: Detectors = None,
        series: SeriesParts = None,
        seeds: Seeds = None,
        protocol: ProtocolName = None,
        write: Write = None,
        engine: Engine = "local",
        address: Address = None,
        workers: Workers = None,
        device: Device = None,
        time_limit: TimeLimit = None,
        memory_limit: MemoryLimit = None,
        keep_scores: KeepScores = False,
        retry_failed: RetryFailed = False,
        small: Small = False,
        show: Show = False,
    ) -> None:
        options = {
            "engine": engine, "address": address, "workers": workers, "device": device,
            "time_limit": time_limit, "memory_limit": memory_limit, "keep_scores": keep_scores,
            "retry_failed": retry_failed,
        }  # fmt: skip
        experiment.run(
            Choice(
                target=target, data=data, detectors=detectors, series=series, seeds=seeds,
                protocol=protocol, write=write, small=small, show=show, options=options,
            )
        )  # fmt: skip

    return command
