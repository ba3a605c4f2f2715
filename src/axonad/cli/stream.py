"""``axonad stream``: read rows from stdin, write scores to stdout as JSON lines."""

from __future__ import annotations

import csv
import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad.cli.options import Device, ModelFolder
from axonad.data.readers.columns import LABEL_COLUMNS, MISSING, TIME_COLUMNS
from axonad.errors import InputError, StaleError
from axonad.registry import load
from axonad.stream import StreamResult, StreamScorer

SKIPPED = (*TIME_COLUMNS, *LABEL_COLUMNS)

Row = dict[str, Any] | list[float | None]


def stream(
    model: ModelFolder,
    hold_limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="For how many consecutive rows a channel's last value may replace a missing "
            "one. Default: 10.",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Resume from this file if it exists, and save the state to it at the end."
        ),
    ] = None,
    alarms_only: Annotated[
        bool, typer.Option("--alarms-only", help="Write only alarms and errors.")
    ] = False,
    device: Device = None,
) -> None:
    """Score rows from stdin as they arrive; write one JSON line per score to stdout.

    Rows are CSV (with a header line of channel names, or plain numbers in channel order) or JSON
    objects, one per line. A line that cannot be read counts as a row of missing values: its output
    line has an "error", and the last value of every channel is used in its place.
    """
    detector = load(model)
    if device is not None:
        detector.set_params(device=device)
    if state is not None and state.exists():
        scorer = StreamScorer.restore(state, detector)
    else:
        scorer = StreamScorer(detector)
    if hold_limit is not None:
        scorer.hold_limit = hold_limit
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # raises, so that the state is saved
    try:
        for row in parse_rows(_stdin_lines(), scorer.names):
            answer = _answer(scorer, row)
            if answer is not None and not (alarms_only and not answer.get("alarm", True)):
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()
    finally:
        if state is not None:
            scorer.save(state, overwrite=True)
    if scorer.rows < detector.history:
        sys.stderr.write(
            f"note: got only {scorer.rows} rows; the first score needs {detector.history}\n"
        )
    if scorer.held or scorer.refused:
        sys.stderr.write(f"{scorer.held} values held, {scorer.refused} rows refused\n")


def _stdin_lines() -> Iterable[str]:
    """Return stdin; bytes that are not valid text are replaced instead of ending the stream."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin


def _answer(scorer: StreamScorer, row: Row | InputError) -> dict[str, Any] | None:
    """Return the JSON object to write for one row, or None while the first window fills."""
    try:
        if isinstance(row, InputError):
            raise row
        result = scorer.push(row)
    except StaleError as error:
        return {"step": scorer.rows - 1, "error": str(error)}
    except InputError as error:
        return _answer_unreadable(scorer, str(error))
    return None if result is None else _as_dict(result)


def _answer_unreadable(scorer: StreamScorer, reason: str) -> dict[str, Any]:
    """Push a row of missing values, so that no window spans an unnoticed gap."""
    try:
        result = scorer.push([None] * scorer.detector.n_features_in_)
    except StaleError as error:
        return {"step": scorer.rows - 1, "error": f"{reason}; {error}"}
    answer = {"step": scorer.rows - 1} if result is None else _as_dict(result)
    return answer | {"error": reason}


def _as_dict(result: StreamResult) -> dict[str, Any]:
    answer: dict[str, Any] = {"step": result.step, "score": result.score, "alarm": result.alarm}
    answer |= result.components
    return answer | ({"held": list(result.held)} if result.held else {})


def parse_rows(lines: Iterable[str], names: Sequence[str] = ()) -> Iterator[Row | InputError]:
    """Yield the rows of CSV or JSON lines: by name where there are names, else in channel order.

    A line that is neither is yielded as an InputError, so that it does not end the stream. Time and
    label columns are skipped. ``names`` are the model's channels, to recognise a header by.
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
        try:
            cells = next(csv.reader([text]))
        except csv.Error as error:
            yield InputError(f"not a CSV line: {error}")
            continue
        if first and _is_header(cells, names):
            header = cells
        else:
            yield _parse_cells(cells, header)
        first = False


def _is_header(cells: list[str], names: Sequence[str]) -> bool:
    """Whether a first line has no numbers, or exactly the model's channel names."""
    if not any(_number(cell) is not None for cell in cells):
        return not all(cell.strip() in MISSING for cell in cells)
    return bool(names) and {c for c in cells if c.lower() not in SKIPPED} == set(names)


def _parse_json(text: str) -> Row | InputError:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        return InputError(f"not a JSON object: {error}")
    return {name: value for name, value in row.items() if name.lower() not in SKIPPED}


def _parse_cells(cells: list[str], header: list[str] | None) -> Row | InputError:
    if header is not None and len(cells) != len(header):
        return InputError(f"expected {len(header)} values as in the header, got {len(cells)}")
    kept = [i for i in range(len(cells)) if header is None or header[i].lower() not in SKIPPED]
    values: list[float | None] = []
    for cell in (cells[i] for i in kept):
        is_missing = cell.strip() in MISSING
        number = None if is_missing else _number(cell)
        if number is None and not is_missing:
            return InputError(f"{cell!r} is not a number")
        values.append(number)
    return values if header is None else {header[i]: v for i, v in zip(kept, values, strict=True)}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
