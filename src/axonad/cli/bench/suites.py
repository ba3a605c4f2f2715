"""``axonad bench suites``: the suites there are."""

from __future__ import annotations

from rich.table import Table

from axonad.bench.suite import known_suites
from axonad.cli.terminal import out
from axonad.config import read_toml


def suites() -> None:
    """Show every suite that has a name."""
    table = Table(box=None, pad_edge=False)
    for heading in ("suite", "detectors", "protocols", "seeds", "what it is"):
        table.add_column(heading, style="bold" if heading == "suite" else None)
    for name, path in sorted(known_suites().items()):
        said = read_toml(path)
        table.add_row(
            name,
            str(len(said.get("detectors", ()))),
            ", ".join(said.get("protocols", {})),
            str(len(said.get("seeds", (2024,)))),
            str(said.get("title", "")),
        )
    out().print(table)
