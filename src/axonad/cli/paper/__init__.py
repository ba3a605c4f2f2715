"""``axonad paper``: run the paper's experiments, one command each."""

from __future__ import annotations

import typer

from axonad.cli.paper.all import run_all
from axonad.cli.paper.diagnostics import run_diagnostics
from axonad.cli.paper.suite_experiments import SUITE_EXPERIMENTS
from axonad.cli.paper.transfer import run_transfer

paper_app = typer.Typer(
    help="Run the paper's experiments and compare its numbers with ours.", no_args_is_help=True
)
for experiment in SUITE_EXPERIMENTS:
    paper_app.command(experiment.name, help=experiment.summary)(experiment.run)
paper_app.command("diagnostics")(run_diagnostics)
paper_app.command("transfer")(run_transfer)
paper_app.command("all")(run_all)
