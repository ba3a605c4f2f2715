"""``axonad stream``: rows in on stdin, scores out as JSON lines."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad.cli.options import ModelFolder
from axonad.cli.terminal import say_error
from axonad.data.readers.columns import LABEL_COLUMNS, TIME_COLUMNS
from axonad.errors import InputError, StaleError
from axonad.registry import load
from axonad.stream import StreamResult, StreamScorer


def stream(
    model: ModelFolder,
    hold_limit: Annotated[
        int, typer.Option(min=0, help="Rows in a row a missing value may be held.")
    ] = 10,
    state: Annotated[
        Path | None,
        typer.Option(help="Continue from this file if it exists, and save to it at the end."),
    ] = None,
    alarms_only: Annotated[bool, typer.Option("--alarms-only", help="Write alarms only.")] = False,
) -> None:
    """Score rows from stdin as they come; write one JSON line per score to stdout.

    Rows are CSV (with a header line of channel names, or plain numbers in channel order) or JSON
    objects, one per line. A row that cannot be used is reported as a line with "error".
    """
    detector = load(model)
    if state is not None and state.exists():
        scorer = StreamScorer.restore(state, detector)
    else:
        scorer = StreamScorer(detector, hold_limit=hold_limit)
    try:
        for row in parse_rows(sys.stdin, detector._names or ()):
            answer = _answer(scorer, row)
            if answer is not None and not (alarms_only and not answer.get("alarm", True)):
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()
    finally:
        if state is not None:
            scorer.save(state, overwrite=True)
    if scorer.rows < detector.history:
        say_error(f"only {scorer.rows} rows came; the first score needs {detector.history}")
    if scorer.held or scorer.refused:
        sys.stderr.write(f"{scorer.held} values held, {scorer.refused} rows refused\n")


def _answer(scorer: StreamScorer, row: Any) -> dict[str, Any] | None:
    """Return what to write for one row, or None while the window fills."""
    try:
        if isinstance(row, InputError):
            raise row
        result = scorer.push(row)
    except InputError as error:
        step = scorer.rows - 1 if isinstance(error, StaleError) else scorer.rows
        return {"step": step, "error": str(error)}
    return None if result is None else _as_dict(result)


def _as_dict(result: StreamResult) -> dict[str, Any]:
    answer: dict[str, Any] = {"step": result.step, "score": result.score, "alarm": result.alarm}
    answer |= result.components
    if result.held:
        answer["held"] = list(result.held)
    return answer


def parse_rows(lines: Iterable[str], names: Sequence[str] = ()) -> Iterator[Any]:
    """Yield rows from CSV or JSON lines: mappings where names are known, else lists of values.

    A line that is neither becomes an InputError in its place, so that one bad line does not end a
    stream. Time and label columns of a CSV header are left out.
    """
    header: list[str] | None = None
    first = True
    for line in lines:
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        if text.startswith("{"):
            yield _parse_json(text)
            continue
        cells = next(csv.reader([text]))
        if first and _is_header(cells, names):
            header = cells
        else:
            yield _parse_cells(cells, header)
        first = False


def _is_header(cells: list[str], names: Sequence[str]) -> bool:
    """Say whether a first line names columns: no numbers in it, or just the model's own names."""
    if not any(_number(cell) is not None for cell in cells):
        return True
    skip = (*TIME_COLUMNS, *LABEL_COLUMNS)
    return bool(names) and {c for c in cells if c.lower() not in skip} == set(names)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return InputError(f"not a JSON object: {error}")


def _parse_cells(cells: list[str], header: list[str] | None) -> Any:
    if header is not None and len(cells) != len(header):
        return InputError(f"expected {len(header)} values as in the header, got {len(cells)}")
    skip = (*TIME_COLUMNS, *LABEL_COLUMNS)
    values: list[float | None] = []
    names: list[str] = []
    for i, cell in enumerate(cells):
        if header is not None and header[i].lower() in skip:
            continue
        if cell.strip() == "":
            values.append(None)
        elif (number := _number(cell)) is not None:
            values.append(number)
        else:
            return InputError(f"{cell!r} is not a number")
        names.append(header[i] if header is not None else "")
    return dict(zip(names, values, strict=True)) if header is not None else values


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
