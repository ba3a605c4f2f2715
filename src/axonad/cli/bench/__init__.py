"""``axonad bench``: run suites, look at their rows."""

from __future__ import annotations

import typer

from axonad.cli.bench.run import run
from axonad.cli.bench.suites import suites

bench_app = typer.Typer(
    help="Run benchmark suites and look at their results.", no_args_is_help=True
)
bench_app.command()(run)
bench_app.command()(suites)
