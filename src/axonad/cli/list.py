"""``axonad list``: the available detectors, or the details of one."""

from __future__ import annotations

import dataclasses
import re
import sys
import textwrap
from typing import Annotated, Any

import typer

from axonad.cli.completion import detector_names
from axonad.cli.docstrings import explain_parameters, paragraphs
from axonad.cli.options import AsJson
from axonad.cli.terminal import plain_table, print_json, print_line, print_table
from axonad.detector import Detector
from axonad.registry import detector_class, list_detectors

WIDTH = 100  # of a line of prose
HEADING = (
    "Parameters with their defaults, and their values under the protocols parity and leaderboard "
    "where these differ:"
)
YEAR = re.compile(r"\b(19|20)\d\d\b")


def list_command(
    name: Annotated[
        str | None,
        typer.Argument(help="Detector to show in detail.", autocompletion=detector_names),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List all detectors, or describe one: its paper, parameters and deviations from the paper."""
    if name is not None:
        if as_json:
            print_json(_record(name, detector_class(name)))
        else:
            _describe(name, detector_class(name))
        return
    if as_json:
        keys = ("name", "learns_from", "summary")
        print_json([{key: getattr(entry, key) for key in keys} for entry in list_detectors()])
        return
    table = plain_table("detector", "learns from", "what it looks at", bold_first=True)
    for entry in list_detectors():
        table.add_row(entry.name, entry.learns_from, entry.summary)
    print_table(table)


def _about(cls: type[Detector]) -> list[str]:
    """Return what a detector is, in paragraphs."""
    about = paragraphs(cls.__doc__)
    if not any(YEAR.search(text) for text in about):  # the paper is named by the module
        summary, *more = paragraphs(sys.modules[cls.__module__].__doc__)
        about = [summary, *more, f"Score: {about[0]}", *about[1:]]
    return about


def _record(name: str, cls: type[Detector]) -> dict[str, Any]:
    """Return what :func:`_describe` prints as a document."""
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    parameters = [
        {
            "name": one,
            "default": defaults[one],
            "parity": (parity := cls.parity.get(one, defaults[one])),
            "leaderboard": cls.leaderboard.get(one, parity),
            "meaning": group.meaning,
        }
        for group in explain_parameters(cls)
        for one in group.names
    ]
    return {"name": name, "about": _about(cls), "parameters": parameters}


def _describe(name: str, cls: type[Detector]) -> None:
    about = _about(cls)
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
