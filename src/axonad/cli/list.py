"""``axonad list``: the available detectors, or the details of one."""

from __future__ import annotations

import dataclasses
import re
import sys
import textwrap
from typing import Annotated

import typer

from axonad.cli.docstrings import explain_parameters, paragraphs
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.detector import Detector
from axonad.registry import detector_class, list_detectors

WIDTH = 100  # of a line of prose
HEADING = (
    "Parameters with their defaults, and their values under the protocols parity and leaderboard "
    "where these differ:"
)
YEAR = re.compile(r"\b(19|20)\d\d\b")


def list_command(
    name: Annotated[str | None, typer.Argument(help="Detector to show in detail.")] = None,
) -> None:
    """List all detectors, or describe one: its paper, parameters and deviations from the paper."""
    if name is not None:
        _describe(name, detector_class(name))
        return
    table = plain_table("detector", "learns from", "what it looks at", bold_first=True)
    for entry in list_detectors():
        table.add_row(entry.name, entry.learns_from, entry.summary)
    print_table(table)


def _describe(name: str, cls: type[Detector]) -> None:
    about = paragraphs(cls.__doc__)
    if not any(YEAR.search(text) for text in about):  # the paper is named by the module
        summary, *more = paragraphs(sys.modules[cls.__module__].__doc__)
        about = [summary, *more, f"Score: {about[0]}", *about[1:]]
    prefix = "" if about[0].startswith(f"{name}:") else f"{name}: "
    print_line(_wrap(f"{prefix}{about[0]}"), style="bold")
    for text in about[1:]:
        print_line("\n" + _wrap(text))
    print_line("\n" + _wrap(HEADING))
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    for group in explain_parameters(cls):
        values = [_value(cls, one, defaults[one]) for one in group.names]
        print_line("\n" + _wrap("  " + ", ".join(values), indent="  "), style="bold")
        if group.meaning:
            print_line(_wrap("      " + group.meaning, indent="      "))


def _value(cls: type[Detector], name: str, default: object) -> str:
    parity = cls.parity.get(name, default)
    leaderboard = cls.leaderboard.get(name, parity)
    others = [] if parity == default else [f"parity: {parity!r}"]
    others += [] if leaderboard == parity else [f"leaderboard: {leaderboard!r}"]
    return f"{name}={default!r}" + (f" ({', '.join(others)})" if others else "")


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
