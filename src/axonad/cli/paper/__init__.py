"""``axonad paper``: the paper's experiments, its figures beside ours."""

from __future__ import annotations

import typer

from axonad.cli.paper.ablation import ablation
from axonad.cli.paper.every import every
from axonad.cli.paper.sensitivity import sensitivity

paper_app = typer.Typer(
    help="Run the paper's experiments and show its figures beside ours.", no_args_is_help=True
)
paper_app.command()(ablation)
paper_app.command()(sensitivity)
paper_app.command("all")(every)
