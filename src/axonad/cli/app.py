"""All commands of ``axonad``, the groups of commands and the options of ``axonad`` itself."""

from __future__ import annotations

from typing import Annotated

import polars as pl
import typer

from axonad import __version__
from axonad.bench.machine import packages
from axonad.cli.bench import bench_app
from axonad.cli.demo import demo
from axonad.cli.doctor import doctor
from axonad.cli.evaluate import evaluate
from axonad.cli.export import export
from axonad.cli.fit import fit
from axonad.cli.inspect import inspect
from axonad.cli.list import list_command
from axonad.cli.live import live
from axonad.cli.live_keys import live_key_app
from axonad.cli.paper import paper_app
from axonad.cli.recalibrate import recalibrate
from axonad.cli.report import report
from axonad.cli.score import score
from axonad.cli.selftest import selftest
from axonad.cli.stream import stream
from axonad.cli.terminal import print_detail
from axonad.cli.verbosity import choose

app = typer.Typer(
    help="Anomaly detection in multivariate time series.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands and groups inherit it
)
for command in (
    inspect, fit, score, report, stream, live, evaluate, selftest, recalibrate, export,
):  # fmt: skip
    app.command()(command)
app.command("list")(list_command)
app.command()(demo)
app.command()(doctor)
app.add_typer(bench_app, name="bench")
app.add_typer(paper_app, name="paper")
app.add_typer(live_key_app, name="live-key")

# Some versions of typer bundle click, others import it; the bases of typer's own exception lead to
# the right class in both.
ClickException: type[Exception] = next(
    cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"
)


def prepare_polars() -> None:
    """Let polars load what it needs of numpy; Ctrl-C while it does so would crash polars."""
    pl.DataFrame({"": [0.0]}).to_numpy()


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"axonad {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no notes; errors and results.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also versions, times, and tracebacks of errors."),
    ] = False,
) -> None:
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose contradict each other; pass one of them")
    choose(quiet=quiet, verbose=verbose)
    if verbose:
        print_detail(f"axonad {__version__}, {packages()}")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
