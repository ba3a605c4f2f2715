"""What the commands that run suites or look at rows share: what to run, which rows, where to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.row import METRIC_NAMES, PROTOCOLS, Row
from axonad.cli.terminal import check_target
from axonad.config import check_choice
from axonad.errors import InputError, UnknownNameError, suggest
from axonad.metrics.registry import ALIASES
from axonad.report.table import Table

FORMATS = ("text", "markdown", "latex", "csv")
ENDINGS = {"markdown": ".md", "latex": ".tex", "csv": ".csv"}

Metric = Annotated[str, typer.Option(help="Any metric, or `VUS-PR d_rec`.")]
Detectors = Annotated[
    list[str] | None, typer.Option("--detectors", "-d", help="Only these; comma or repeat.")
]
Split = Annotated[
    str | None, typer.Option(help="Only series of this list: eval or tuning.", show_default=False)
]
ProtocolName = Annotated[
    str | None, typer.Option("--protocol", "-p", help="parity or causal.", show_default=False)
]
WindowRule = Annotated[
    str | None,
    typer.Option("--window", help="Only rows judged with this VUS window.", show_default=False),
]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Folder for the rows. Default: results/SUITE.", show_default=False
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Folder or zip with the suite's series.", show_default=False)
]
SeriesParts = Annotated[
    list[str] | None, typer.Option(help="Only series with this in their name; comma or repeat.")
]
Seeds = Annotated[list[str] | None, typer.Option(help="Seeds in place of the suite's.")]
Engine = Annotated[str, typer.Option(help="local, together (many fits on a card) or ray.")]
Address = Annotated[str | None, typer.Option(help="Of a Ray cluster: auto, or ray://host:10001.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Jobs at a time. Default: one per core.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda or mps. Default: auto.")]
TimeLimit = Annotated[float | None, typer.Option(min=0, help="Seconds per job.")]
MemoryLimit = Annotated[float | None, typer.Option(min=1, help="MiB per job.")]
KeepScores = Annotated[
    bool, typer.Option("--keep-scores", help="Keep scores; with Ray, in a shared folder.")
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Run jobs again whose row is a failure.")
]


def words(given: list[str] | None, *, known: Collection[str] = ()) -> list[str]:
    """Return the words of an option that may be repeated or hold commas, as some names do."""
    found: list[str] = []
    for text in given or []:
        found += [text] if text in known else [w.strip() for w in text.split(",") if w.strip()]
    return found


def seed_numbers(given: list[str] | None) -> list[int]:
    """Return the seeds given, or refuse what is none."""
    for word in words(given):
        if not word.isdecimal():
            raise typer.BadParameter(f"seeds must be whole numbers of at least 0, got {word!r}")
    return [int(word) for word in words(given)]


def check_quality(metric: str, rows: Sequence[Row]) -> str:
    """Return our name of a metric that is better when larger; refuse any other column."""
    parts = sorted({f"VUS-PR {part}" for row in rows for part in row.parts})
    known = (*METRIC_NAMES, *parts)
    name = ALIASES.get(metric, metric)
    if name not in known:
        close = {k.lower(): k for k in known}.get(metric.lower())
        hint = f"; did you mean {close!r}?" if close else suggest(metric, known)
        raise UnknownNameError(f"metric {metric!r} is not one of {', '.join(known)}{hint}")
    return name


def choose(
    rows: Sequence[Row],
    *,
    detectors: list[str] | None = None,
    series: list[str] | None = None,
    seeds: list[str] | None = None,
    split: str | None = None,
    protocol: str | None = None,
    window: str | None = None,
) -> list[Row]:
    """Return the rows that fit every choice given; refuse a choice that leaves none."""
    if not rows:
        raise InputError("there are no rows yet; run the suite first")
    if protocol is not None:
        check_choice("protocol", protocol, PROTOCOLS)
    wanted = words(detectors, known={row.label for row in rows})
    for name in wanted:
        if not any(name in (row.label, row.detector) for row in rows):
            known = ", ".join(sorted({row.label for row in rows}))
            raise UnknownNameError(f"no rows of detector {name!r}; there are {known}")
    named, numbers = words(series), seed_numbers(seeds)
    chosen = [
        row
        for row in rows
        if (not wanted or row.label in wanted or row.detector in wanted)
        and (not named or any(part in row.series for part in named))
        and (not numbers or row.seed in numbers)
        and (split is None or row.split == split)
        and (protocol is None or row.protocol == protocol)
        and (window is None or row.window_rule == window)
    ]
    if not chosen:
        asked = {
            "--series": ",".join(named) or None,
            "--seeds": ",".join(map(str, numbers)) or None,
            "--split": split,
            "--protocol": protocol,
            "--window": window,
        }
        said = " ".join(f"{name} {value}" for name, value in asked.items() if value is not None)
        raise InputError(f"none of {len(rows)} rows fits {said}")
    return chosen


def render(table: Table, form: str) -> str:
    """Return a table in one of the formats."""
    check_choice("format", form, FORMATS)
    makers = {
        "text": table.to_text,
        "markdown": table.to_markdown,
        "latex": table.to_latex,
        "csv": table.to_csv,
    }
    return makers[form]()


def write_tables(folder: Path, tables: Mapping[str, Table], *, force: bool) -> None:
    """Write every table as Markdown, LaTeX and CSV into a folder."""
    targets = {
        folder / f"{name}{ending}": render(table, form)
        for name, table in tables.items()
        for form, ending in ENDINGS.items()
    }
    for path in targets:
        check_target(path, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in targets.items():
        path.write_text(text, encoding="utf-8")
