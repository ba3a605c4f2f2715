"""``axonad list``: the detectors there are, or all about one."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Annotated

import typer
from rich.table import Table

from axonad.cli.terminal import out
from axonad.registry import detector_class, list_detectors


def list_command(
    name: Annotated[
        str | None, typer.Argument(help="A detector, to read all about it.", show_default=False)
    ] = None,
) -> None:
    """Show every detector, or one with its paper, its parameters and where it differs."""
    if name is None:
        _list_all()
    else:
        _describe(name)


def _list_all() -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("detector", style="bold")
    table.add_column("learns from")
    table.add_column("what it looks at")
    for entry in list_detectors():
        table.add_row(entry.name, entry.learns_from, entry.summary)
    out().print(table)


def _describe(name: str) -> None:
    cls = detector_class(name)
    console = out()
    about = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    for text in (about, inspect.cleandoc(cls.__doc__ or "")):
        console.print(text, markup=False)
        console.print()
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "default", "under parity"):
        table.add_column(heading, style="bold" if heading == "parameter" else None)
    for field in dataclasses.fields(cls):
        parity = repr(cls.parity[field.name]) if field.name in cls.parity else ""
        table.add_row(field.name, repr(field.default), parity)
    console.print(table)
