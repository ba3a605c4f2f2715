"""``axonad bench suites``: list the suites that can be run by name."""

from __future__ import annotations

from axonad.bench.suite import known_suites
from axonad.cli.terminal import plain_table, print_table
from axonad.config import read_toml


def suites() -> None:
    """List the suites that can be run by name."""
    table = plain_table("suite", "detectors", "protocols", "seeds", "what it is", bold_first=True)
    for name, path in sorted(known_suites().items()):
        suite = read_toml(path)
        table.add_row(
            name,
            str(len(suite.get("detectors", ()))),
            ", ".join(suite.get("protocols", {})),
            str(len(suite.get("seeds", (2024,)))),
            str(suite.get("title", "")),
        )
    print_table(table)
