"""``axonad``: the commands, and the one place where a user's mistake becomes one red line."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import click
import typer

from axonad import __version__
from axonad.cli.demo import demo
from axonad.cli.evaluate import evaluate
from axonad.cli.fit import fit
from axonad.cli.list import list_command
from axonad.cli.score import score
from axonad.cli.stream import stream
from axonad.cli.terminal import say_error
from axonad.errors import AxonADError

app = typer.Typer(
    help="Anomaly detection for many sensors at once.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(fit)
app.command()(score)
app.command()(stream)
app.command()(evaluate)
app.command("list")(list_command)
app.command()(demo)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"axonad {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main(words: list[str] | None = None) -> None:
    """Run the command line; exit code 2 and one red line on a user's mistake."""
    try:
        code = app(words, standalone_mode=False)
    except AxonADError as error:
        say_error(str(error))
        sys.exit(2)
    except click.exceptions.NoArgsIsHelpError as error:
        typer.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        say_error(error.format_message())
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        say_error("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away; nothing is left to tell it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        say_error("not enough memory for this input; score it in parts")
        sys.exit(2)
    except OSError as error:
        say_error(str(error))
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
