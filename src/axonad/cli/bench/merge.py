"""``axonad bench merge``: copy the rows of several runs into one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import Results, read_rows
from axonad.cli.options import AsJson
from axonad.cli.terminal import print_json, print_line


def merge(
    target: Annotated[Path, typer.Argument(help="Folder the rows are added to.")],
    sources: Annotated[list[Path], typer.Argument(help="Folders or files with rows.")],
    as_json: AsJson = False,
) -> None:
    """Add the rows of other runs; a row that exists is replaced only if it is a failure."""
    found = [row for source in sources for row in read_rows(source)]
    with Results(target) as results:
        known = {row.key: row for row in results.rows}
        added = 0
        for row in found:
            if row.key not in known or (row.is_ok and not known[row.key].is_ok):
                results.append(row)
                known[row.key] = row
                added += 1
    if as_json:
        print_json({"added": added, "found": len(found), "jobs": len(known), "folder": target})
        return
    print_line(f"added {added} of {len(found)} rows to {target}; it has {len(known)} jobs")
