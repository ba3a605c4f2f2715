"""``axonad stream``: rows in on stdin, scores out as JSON lines."""

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


def stream(
    model: ModelFolder,
    hold_limit: Annotated[
        int | None,
        typer.Option(min=0, help="Rows in a row a missing value may be held. Default: 10."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="Continue from this file if it exists, and save to it at the end."),
    ] = None,
    alarms_only: Annotated[bool, typer.Option("--alarms-only", help="Write alarms only.")] = False,
    device: Device = None,
) -> None:
    """Score rows from stdin as they come; write one JSON line per score to stdout.

    Rows are CSV (with a header line of channel names, or plain numbers in channel order) or JSON
    objects, one per line. A line that cannot be read counts as a row without values: its answer
    carries "error", and the last values are held in its place.
    """
    detector = load(model)
    if device is not None:
        detector.set_params(device=device)
    resumed = state is not None and state.exists()
    scorer = StreamScorer.restore(state, detector) if resumed else StreamScorer(detector)  # type: ignore[arg-type]
    if hold_limit is not None:
        scorer.hold_limit = hold_limit
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the state is saved
    try:
        for row in parse_rows(_lines(), scorer.names):
            answer = _answer(scorer, row)
            if answer is not None and not (alarms_only and not answer.get("alarm", True)):
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()
    finally:
        if state is not None:
            scorer.save(state, overwrite=True)
    if scorer.rows < detector.history:
        note = f"only {scorer.rows} rows came; the first score needs {detector.history}"
        sys.stderr.write(f"note: {note}\n")
    if scorer.held or scorer.refused:
        sys.stderr.write(f"{scorer.held} values held, {scorer.refused} rows refused\n")


def _lines() -> Iterable[str]:
    """Return stdin, with bytes that are no text replaced instead of ending the stream."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin


def _answer(scorer: StreamScorer, row: Any) -> dict[str, Any] | None:
    """Return what to write for one row, or None while the window fills."""
    try:
        if isinstance(row, InputError):
            raise row
        result = scorer.push(row)
    except StaleError as error:
        return {"step": scorer.rows - 1, "error": str(error)}
    except InputError as error:
        return _answer_lost(scorer, str(error))
    return None if result is None else _as_dict(result)


def _answer_lost(scorer: StreamScorer, reason: str) -> dict[str, Any]:
    """Count an unusable row as one without values, so that no window closes over the gap."""
    try:
        result = scorer.push([None] * scorer.detector.n_features_in_)
    except StaleError as error:
        return {"step": scorer.rows - 1, "error": f"{reason}; {error}"}
    answer = {"step": scorer.rows - 1} if result is None else _as_dict(result)
    return answer | {"error": reason}


def _as_dict(result: StreamResult) -> dict[str, Any]:
    answer: dict[str, Any] = {"step": result.step, "score": result.score, "alarm": result.alarm}
    answer |= result.components
    if result.held:
        answer["held"] = list(result.held)
    return answer


def parse_rows(lines: Iterable[str], names: Sequence[str] = ()) -> Iterator[Any]:
    """Yield rows from CSV or JSON lines: mappings where names are known, else lists of values.

    A line that is neither becomes an InputError in its place, so that one bad line does not end a
    stream. Time and label columns are left out.
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
    """Say whether a first line names columns: no numbers in it, or just the model's own names."""
    if not any(_number(cell) is not None for cell in cells):
        return not all(cell.strip() in MISSING for cell in cells)
    return bool(names) and {c for c in cells if c.lower() not in SKIPPED} == set(names)


def _parse_json(text: str) -> Any:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        return InputError(f"not a JSON object: {error}")
    return {name: value for name, value in row.items() if name.lower() not in SKIPPED}


def _parse_cells(cells: list[str], header: list[str] | None) -> Any:
    if header is not None and len(cells) != len(header):
        return InputError(f"expected {len(header)} values as in the header, got {len(cells)}")
    values: list[float | None] = []
    names: list[str] = []
    for i, cell in enumerate(cells):
        if header is not None and header[i].lower() in SKIPPED:
            continue
        if cell.strip() in MISSING:
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
