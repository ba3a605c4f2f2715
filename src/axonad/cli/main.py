"""The entry point: runs a command and turns errors and signals into a line and an exit code.

Loading the commands takes most of a second; this module is light, so that a handler of Ctrl-C
stands before that.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from axonad.cli.signals import INTERRUPTED, Signals
from axonad.cores import limit_threads


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; on a user error print one red line and exit with code 2."""
    if arguments is None:
        limit_threads()  # before anything loads a numerical library
    with Signals() as signals:
        try:
            code = _run(arguments)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except SystemExit:
            raise
        except BaseException:  # a signal may turn into another error, such as a failed import
            if not signals.received:
                raise
            code = signals.exit_code
        signals.finish()
        if code == INTERRUPTED:
            sys.stderr.write("error: interrupted\n")
        sys.exit(_flush_output(code))


def _run(arguments: list[str] | None) -> int:
    """Run a command and return the exit code."""
    from axonad.cli.app import app, prepare_polars
    from axonad.cli.terminal import print_detail
    from axonad.cli.verbosity import is_verbose, verbosity_scope
    from axonad.report.amounts import format_duration

    prepare_polars()
    begin = time.monotonic()
    with verbosity_scope():
        code = _run_app(lambda: app(arguments, standalone_mode=False, prog_name="axonad"))
        if is_verbose():
            print_detail(f"exit code {code} after {format_duration(time.monotonic() - begin)}")
    return code


def _run_app(app: Callable[[], Any]) -> int:
    """Run the command; print the error of a user as one line and return the exit code."""
    import typer

    from axonad.cli.app import ClickException
    from axonad.cli.terminal import print_detail, print_error
    from axonad.errors import AxonADError, is_out_of_memory

    try:
        with showing_notes():
            code = app()
        return code if isinstance(code, int) else 0  # 130 if typer caught a KeyboardInterrupt
    except BrokenPipeError:  # the reader of our output has closed the pipe
        _discard_output()
        return 0
    except typer.Abort:
        return INTERRUPTED
    except AxonADError as error:
        print_detail(traceback.format_exc())
        print_error(str(error))
    except OSError as error:
        print_detail(traceback.format_exc())
        where = "" if error.filename is None else f": {error.filename!r}"
        print_error(f"{error.strerror}{where}" if error.strerror else str(error))
    except ClickException as error:
        print_error(error.format_message())  # type: ignore[attr-defined]
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        print_detail(traceback.format_exc())
        print_error("out of memory; use a smaller window, d_model or batch_size, or fewer rows")
    return 2


@contextmanager
def showing_notes() -> Iterator[None]:
    """Print each :class:`DataWarning` as a note; other warnings are shown as Python does."""
    from axonad.cli.terminal import print_detail, print_note
    from axonad.errors import DataWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, DataWarning):
                print_note(str(message))
                print_detail("  at " + ":".join(map(str, rest[:2])))
            else:
                usual(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _flush_output(code: int) -> int:
    """Write what is left of stdout; return the exit code, 2 if it cannot be written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        if code == 0:
            sys.stderr.write(f"error: cannot write to standard output: {error.strerror}\n")
            return 2
    return code


def _discard_output() -> None:
    """Send what is left of stdout nowhere; Python would fail on it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
