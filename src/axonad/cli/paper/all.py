"""``axonad paper all``: run every experiment of the paper, each in its own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.suite import read_suite
from axonad.cli.bench.options import Data, Device, Engine, Workers
from axonad.cli.paper.diagnostics import run_diagnostics
from axonad.cli.paper.options import Small
from axonad.cli.paper.suite_experiments import SUITE_EXPERIMENTS
from axonad.cli.paper.transfer import run_transfer


def run_all(
    target: Annotated[
        Path, typer.Option("--out", "-o", help="Folder with one subfolder per experiment.")
    ] = Path("results/paper"),
    data: Data = None,
    engine: Engine = "local",
    workers: Workers = None,
    device: Device = None,
    small: Small = False,
) -> None:
    """Run every experiment; finished jobs are not run again."""
    for experiment in SUITE_EXPERIMENTS:
        if experiment.needs_data and not small:
            read_suite(experiment.suite, data=data).jobs()  # raises now if data are missing
    for experiment in SUITE_EXPERIMENTS:
        experiment.run(
            target=target / experiment.name, data=data if experiment.needs_data else None,
            engine=engine, workers=workers, device=device, small=small,
        )  # fmt: skip
    run_diagnostics(target=target / "diagnostics", data=data, device=device, small=small)
    run_diagnostics(
        target=target / "diagnostics-as-run", data=data, device=device, small=small, as_run=True
    )
    run_transfer(target=target / "transfer", data=data, small=small)
