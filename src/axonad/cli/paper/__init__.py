"""``axonad paper``: the paper's experiments, its figures beside ours. One experiment, one file."""

from __future__ import annotations

import typer

from axonad.cli.paper.command import make_command
from axonad.cli.paper.every import EXPERIMENTS, every

paper_app = typer.Typer(
    help="Run the paper's experiments and show its figures beside ours.", no_args_is_help=True
)
for experiment in EXPERIMENTS:
    paper_app.command(experiment.name, help=experiment.summary)(make_command(experiment))
paper_app.command("all")(every)
