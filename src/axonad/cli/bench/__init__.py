"""``axonad bench``: run suites, look at their rows."""

from __future__ import annotations

import typer

from axonad.cli.bench.compare import compare
from axonad.cli.bench.merge import merge
from axonad.cli.bench.run import run
from axonad.cli.bench.suites import suites
from axonad.cli.bench.table import table
from axonad.cli.bench.transfer import transfer

bench_app = typer.Typer(
    help="Run benchmark suites and look at their results.", no_args_is_help=True
)
bench_app.command()(run)
bench_app.command()(table)
bench_app.command()(compare)
bench_app.command()(transfer)
bench_app.command()(merge)
bench_app.command()(suites)
