"""``axonad``: all commands, and the one place that turns an error into a line and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

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
from axonad.cli.terminal import print_error, print_note
from axonad.errors import AxonADError, DataWarning, is_out_of_memory

INTERRUPTED = 130  # the exit code shells expect after Ctrl-C

app = typer.Typer(
    help="Anomaly detection in multivariate time series.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (fit, score, stream, evaluate, export):
    app.command()(command)
app.command("list")(list_command)
app.command()(demo)
app.add_typer(bench_app, name="bench")
app.add_typer(paper_app, name="paper")

# Some versions of typer bundle click, others import it; the bases of typer's own exception lead to
# the right class in both.
ClickException: type[Exception] = next(
    cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"
)


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
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; on a user error print one red line and exit with code 2."""
    try:
        with showing_notes():
            code = app(arguments, standalone_mode=False)
    except BrokenPipeError:  # the reader of our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (AxonADError, OSError) as error:
        _fail(str(error))
    except ClickException as error:
        _fail(error.format_message())  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", code=INTERRUPTED)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        _fail("out of memory; use a smaller window, d_model or batch_size, or fewer rows")
    if code == INTERRUPTED:  # typer has caught the KeyboardInterrupt itself
        _fail("interrupted", code=INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def showing_notes() -> Iterator[None]:
    """Print each :class:`DataWarning` as a note; other warnings are shown as Python does."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, DataWarning):
                print_note(str(message))
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _fail(message: str, *, code: int = 2) -> NoReturn:
    print_error(message)
    sys.exit(code)
