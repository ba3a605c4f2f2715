"""``axonad list``: the detectors there are."""

from __future__ import annotations

from rich.table import Table

from axonad.cli.terminal import out
from axonad.registry import list_detectors


def list_command() -> None:
    """Show every detector."""
    table = Table(box=None, pad_edge=False)
    table.add_column("detector", style="bold")
    table.add_column("learns from")
    table.add_column("what it looks at")
    for entry in list_detectors():
        table.add_row(entry.name, entry.learns_from, entry.summary)
    out().print(table)
