"""``axonad paper all``: every experiment, one after the other, each in its own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.suite import read_suite
from axonad.cli.bench.options import Data, Device, Engine, Workers
from axonad.cli.paper.ablation import ABLATION
from axonad.cli.paper.command import Small
from axonad.cli.paper.diagnostics import DIAGNOSTICS
from axonad.cli.paper.experiment import Choice, Experiment, OwnExperiment
from axonad.cli.paper.runtime import RUNTIME
from axonad.cli.paper.sensitivity import SENSITIVITY
from axonad.cli.paper.table1 import TABLE1
from axonad.cli.paper.table2 import TABLE2
from axonad.cli.paper.transfer import TRANSFER

EXPERIMENTS: tuple[Experiment | OwnExperiment, ...] = (
    TABLE1, TABLE2, ABLATION, SENSITIVITY, RUNTIME,
    DIAGNOSTICS, TRANSFER,
)  # fmt: skip


def every(
    target: Annotated[
        Path, typer.Option("--out", "-o", help="Folder with a folder for each experiment.")
    ] = Path("results/paper"),
    data: Data = None,
    engine: Engine = "local",
    workers: Workers = None,
    device: Device = None,
    small: Small = False,
) -> None:
    """Run all experiments; what is done already is not done again."""
    if not small:
        for experiment in EXPERIMENTS:
            if isinstance(experiment, Experiment) and not experiment.generated:
                read_suite(experiment.suite, data=data).jobs()  # hours later is too late to miss it
    options = {"engine": engine, "workers": workers, "device": device}
    for experiment in EXPERIMENTS:
        folder = target / experiment.name
        makes_its_own = isinstance(experiment, Experiment) and experiment.generated
        given = None if makes_its_own else data
        experiment.run(Choice(target=folder, data=given, small=small, options=options))
