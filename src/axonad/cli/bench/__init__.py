"""``axonad bench``: run benchmark suites and report their results."""

from __future__ import annotations

import typer

from axonad.cli.bench.compare import compare
from axonad.cli.bench.merge import merge
from axonad.cli.bench.run import run
from axonad.cli.bench.suites import suites
from axonad.cli.bench.table import table
from axonad.cli.bench.transfer import transfer

bench_app = typer.Typer(help="Run benchmark suites and report their results.", no_args_is_help=True)
for command in (run, table, compare, transfer, merge, suites):
    bench_app.command()(command)
