"""``axonad``: the commands, and the one place where a user's mistake becomes one red line."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from axonad import __version__
from axonad.cli.bench import bench_app
from axonad.cli.demo import demo
from axonad.cli.evaluate import evaluate
from axonad.cli.export import export
from axonad.cli.fit import fit
from axonad.cli.list import list_command
from axonad.cli.paper import paper_app
from axonad.cli.score import score
from axonad.cli.stream import stream
from axonad.cli.terminal import say_error
from axonad.errors import AxonADError, is_out_of_memory

INTERRUPTED = 130  # what a shell expects after an interrupt

app = typer.Typer(
    help="Anomaly detection for many sensors at once.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(fit)
app.command()(score)
app.command()(stream)
app.command()(evaluate)
app.command()(export)
app.command("list")(list_command)
app.command()(demo)
app.add_typer(bench_app, name="bench")
app.add_typer(paper_app, name="paper")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"axonad {__version__}")
        raise typer.Exit


# Typer carries its own click in some versions and uses the package in others; its own name leads
# to the right base class in both.
ClickException: type[Exception] = next(
    cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main(words: list[str] | None = None) -> None:
    """Run the command line; exit code 2 and one red line on a user's mistake."""
    try:
        code = app(words, standalone_mode=False)
    except AxonADError as error:
        say_error(str(error))
        sys.exit(2)
    except ClickException as error:
        say_error(error.format_message())  # type: ignore[attr-defined]
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        say_error("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away; nothing is left to tell it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        say_error("not enough memory; use a smaller window, d_model or batch_size, or fewer rows")
        sys.exit(2)
    except OSError as error:
        say_error(str(error))
        sys.exit(2)
    if code == INTERRUPTED:  # typer catches the interrupt itself
        say_error("interrupted")
    sys.exit(code if isinstance(code, int) else 0)
