"""``axonad paper``: the paper's experiments, its figures beside ours. One experiment, one file."""

from __future__ import annotations

import typer

from axonad.cli.paper.command import make_command
from axonad.cli.paper.every import EXPERIMENTS, every
from axonad.cli.paper.experiment import Experiment

paper_app = typer.Typer(
    help="Run the paper's experiments and show its figures beside ours.", no_args_is_help=True
)
for experiment in EXPERIMENTS:
    command = make_command(experiment) if isinstance(experiment, Experiment) else experiment.command
    paper_app.command(experiment.name, help=experiment.summary)(command)
paper_app.command("all")(every)
