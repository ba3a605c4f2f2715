"""``axonad list``: the available detectors, or the details of one."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Annotated

import typer

from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.registry import detector_class, list_detectors


def list_command(
    name: Annotated[str | None, typer.Argument(help="Detector to show in detail.")] = None,
) -> None:
    """List all detectors, or describe one: its paper, parameters and deviations from the paper."""
    if name is not None:
        _describe(name)
        return
    table = plain_table("detector", "learns from", "what it looks at", bold_first=True)
    for entry in list_detectors():
        table.add_row(entry.name, entry.learns_from, entry.summary)
    print_table(table)


def _describe(name: str) -> None:
    cls = detector_class(name)
    for doc in (sys.modules[cls.__module__].__doc__, cls.__doc__):
        print_line(inspect.cleandoc(doc or "") + "\n")
    table = plain_table("parameter", "default", "under parity", bold_first=True)
    for field in dataclasses.fields(cls):
        parity = repr(cls.parity[field.name]) if field.name in cls.parity else ""
        table.add_row(field.name, repr(field.default), parity)
    print_table(table)
