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
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one line of JSON instead; nothing else goes to stdout."),
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
    list[str] | None,
    typer.Option(
        "--ignore", help="Column or channel to ignore; * and ? are wild; may be repeated."
    ),
]
Channels = Annotated[
    list[str] | None,
    typer.Option(
        "--channels",
        help="Channel to read; * and ? are wild; may be repeated. Default: all that hold numbers.",
    ),
]
Codes = Annotated[
    bool,
    typer.Option(
        "--codes", help="Read the integer codes of recordings too, such as gears and states."
    ),
]
Rename = Annotated[
    Path | None,
    typer.Option(
        "--rename",
        help='TOML file of lines "name in the file" = "name to use"; other options take the new '
        "names.",
    ),
]
Dbc = Annotated[
    list[Path] | None,
    typer.Option("--dbc", help="DBC file that says what CAN frames mean; may be repeated."),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "--rate",
        help="Raster of recordings, such as 10Hz or 100ms. Default: the rate of the fastest "
        "channel, rounded, at most 100 Hz.",
    ),
]
MaxAge = Annotated[
    str | None,
    typer.Option(
        "--max-age",
        help="For how long a value of a recording is held, such as 2s. Default: 10 times the "
        "channel's own interval.",
    ),
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
AllowMissing = Annotated[
    bool,
    typer.Option(
        "--allow-missing",
        help="Score without channels of the model that the data lacks, if the detector can.",
    ),
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
