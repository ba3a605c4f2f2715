"""``axonad bench suites``: list the suites that can be run by name."""

from __future__ import annotations

from axonad.bench.suite import known_suites
from axonad.cli.options import AsJson
from axonad.cli.terminal import plain_table, print_json, print_table
from axonad.config import read_toml


def suites(as_json: AsJson = False) -> None:
    """List the suites that can be run by name."""
    known = {name: read_toml(path) for name, path in sorted(known_suites().items())}
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "title": suite.get("title", ""),
                    "detectors": [one.get("name") for one in suite.get("detectors", ())],
                    "protocols": list(suite.get("protocols", {})),
                    "seeds": suite.get("seeds", [2024]),
                }
                for name, suite in known.items()
            ]
        )
        return
    table = plain_table("suite", "detectors", "protocols", "seeds", "what it is", bold_first=True)
    for name, suite in known.items():
        table.add_row(
            name,
            str(len(suite.get("detectors", ()))),
            ", ".join(suite.get("protocols", {})),
            str(len(suite.get("seeds", (2024,)))),
            str(suite.get("title", "")),
        )
    print_table(table)
