"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from axonad.data.holding import HOLD_LIMIT

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
IgnoreExtra = Annotated[
    bool,
    typer.Option("--ignore-extra", help="Ignore columns that the model does not know."),
]
Fill = Annotated[
    str | None,
    typer.Option(
        "--fill",
        help="What replaces missing values: hold, the channel's last value. Default: nothing, "
        "missing values are an error.",
    ),
]
MaxHold = Annotated[
    int | None,
    typer.Option(
        "--max-hold",
        min=0,
        help="For how many rows in a row a value may be held; rows after that are not used. "
        f"Default: {HOLD_LIMIT}.",
    ),
]
