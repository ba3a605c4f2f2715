"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFolder = Annotated[Path, typer.Argument(help="Folder of a saved detector.")]
Device = Annotated[
    str | None,
    typer.Option(
        "--device", help="Device to score on: auto, cpu, cuda or mps. Default: as fitted."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
TimeColumn = Annotated[
    str | None,
    typer.Option("--time", help="Time column. Default: time, timestamp or t_s, if present."),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="Label column. Default: Label, if present.")
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="Column to ignore; may be repeated.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="Character between the columns of CSV files, or the word tab. Default: found from "
        "the first lines.",
    ),
]
