"""Options shared by the commands that run suites or read rows, and how lists in them are parsed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from axonad.cli.completion import detector_names, metric_names

Metric = Annotated[
    str,
    typer.Option(
        help="Name of a metric; `VUS-PR d_rec` is that of one score component.",
        autocompletion=metric_names,
    ),
]
Detectors = Annotated[
    list[str] | None,
    typer.Option(
        "--detectors",
        "-d",
        help="Only these detectors, comma-separated or repeated.",
        autocompletion=detector_names,
    ),
]
Split = Annotated[str | None, typer.Option(help="Only the series of this split: eval or tuning.")]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol", "-p", help="Only this protocol: parity, heldout, leaderboard or causal."
    ),
]
WindowRule = Annotated[
    str | None, typer.Option("--window", help="Only rows evaluated with this VUS window rule.")
]

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for the rows. Default: results/SUITE.")
]
Data = Annotated[Path | None, typer.Option(help="Folder or zip with the suite's series.")]
OwnData = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="Folder or zip with the suite's series, or your own labelled files instead of them: "
        "any format, patterns, may be repeated.",
    ),
]
Train = Annotated[
    float | None,
    typer.Option(
        help="Share of the rows of your own files to learn from, the first ones. Default: 0.5."
    ),
]
SeriesParts = Annotated[
    list[str] | None,
    typer.Option(help="Only series whose name contains this, comma-separated or repeated."),
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(help="Seeds to use instead of the suite's, comma-separated or repeated."),
]
Engine = Annotated[
    str,
    typer.Option(
        help="Where jobs run: local (processes), together (AxonAD models fitted jointly on a GPU) "
        "or ray."
    ),
]
Address = Annotated[
    str | None, typer.Option(help="Address of a Ray cluster: auto, or ray://host:10001.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of parallel jobs. Default: one per core.")
]
Device = Annotated[
    str | None, typer.Option(help="Device to run on: cpu, cuda or mps. Default: auto.")
]
TimeLimit = Annotated[float | None, typer.Option(min=0, help="Time limit per job, in seconds.")]
MemoryLimit = Annotated[float | None, typer.Option(min=1, help="Memory limit per job, in MiB.")]
KeepScores = Annotated[
    bool,
    typer.Option(
        "--keep-scores",
        help="Also save the scores; with Ray, --out must be a folder all machines share.",
    ),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run failed jobs again.")]


def split_names(given: list[str] | None, *, known: Collection[str] = ()) -> list[str]:
    """Return the names in an option that may be repeated or comma-separated.

    A ``known`` name that contains a comma is not split.
    """
    names: list[str] = []
    for text in given or []:
        names += [text] if text in known else [n.strip() for n in text.split(",") if n.strip()]
    return names


def parse_seeds(given: list[str] | None) -> list[int]:
    """Return the seeds in an option that may be repeated or comma-separated."""
    seeds = split_names(given)
    for seed in seeds:
        if not seed.isdecimal():
            raise typer.BadParameter(f"seeds must be whole numbers of at least 0, got {seed!r}")
    return [int(seed) for seed in seeds]
