"""``axonad bench merge``: the rows of several runs in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import Results, read_rows
from axonad.cli.terminal import out


def merge(
    target: Annotated[Path, typer.Argument(help="Folder the rows are added to.")],
    sources: Annotated[list[Path], typer.Argument(help="Folders or files with rows.")],
) -> None:
    """Add the rows of other runs; a job that is there already is replaced only if it had failed."""
    found = [row for source in sources for row in read_rows(source)]
    with Results(target) as results:
        before = {row.key: row for row in results.rows}
        added = 0
        for row in found:
            known = before.get(row.key)
            if known is None or (row.is_ok and not known.is_ok):
                results.append(row)
                before[row.key] = row
                added += 1
        out().print(
            f"added {added} of {len(found)} rows to {target}; it has {len(before)} jobs",
            markup=False,
        )
