"""Options shared by the commands of the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Small = Annotated[
    bool,
    typer.Option(
        "--small", help="Quick trial: tiny networks on short generated series; scores mean nothing."
    ),
]
Write = Annotated[
    Path | None,
    typer.Option(
        "--write", "-w", help="Folder for tables and figures. Default: the folder of the rows."
    ),
]
Show = Annotated[
    bool,
    typer.Option(
        "--show", help="Run nothing; make tables and figures of existing rows. Needs no data."
    ),
]
