"""What ``axonad score`` writes: the columns of a score table, and the record of a file as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axonad.alarmed import EventList
from axonad.cli.event_files import event_record
from axonad.data.series import Series
from axonad.explanation import Explanation


def score_columns(series: Series, found: Explanation, *, first: int = 0) -> dict[str, Any]:
    """Return the columns, one value per step; ``first`` is the number of the first step."""
    columns: dict[str, Any] = {"step": np.arange(first, first + len(series))}
    if series.times is not None:
        # Polars infers the type of a list past leading missing values, not that of an object array.
        is_text = series.times.dtype == object
        columns["time"] = series.times.tolist() if is_text else series.times
    columns |= {"score": found.scores, **found.components, "alarm": found.alarms.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels
    return columns


def score_record(path: Path, found: EventList, written: Sequence[Path]) -> dict[str, Any]:
    """Return what was found in a file: steps, events, bad data, drift, and the files written."""
    kinds = {"events": found.events, "bad_data": found.data, "drift": found.drift}
    listed = {kind: [event_record(timed) for timed in events] for kind, events in kinds.items()}
    return {"file": path, "steps": found.steps, **listed, "written": list(written)}
