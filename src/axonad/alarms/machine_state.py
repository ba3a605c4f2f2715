"""What the state machine of alarms remembers between two rows, as it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.run import Run
from axonad.errors import ModelFileError

NEWER = ("lift", "gathering")


@dataclass(frozen=True)
class MachineState:
    """Rows and events seen, what is pending, the event that is not final, shelf and lift.

    ``lift`` is that of the thresholds, ``gathering`` what is known about events beyond the budget;
    both are None in states saved before there were any.
    """

    row: int
    count: int
    firing: bool
    acknowledged: bool
    shelved: bool
    shelf: dict[str, int]
    pending: Run | None
    event: Run | None
    lift: Mapping[str, Any] | None = None
    gathering: Mapping[str, Any] | None = None


def read_state(
    state: Mapping[str, Any], *, policy: AlarmPolicy, channels: int | None
) -> MachineState:
    """Return a saved state; raise KeyError, TypeError or ValueError if it does not fit."""
    if AlarmPolicy.from_json(state["policy"]) != policy:
        raise ModelFileError(
            "the state was saved with another alarm policy; use the model and options it was saved "
            "with, or begin a new state"
        )
    names = [field.name for field in fields(MachineState) if field.name not in NEWER]
    values = {name: state[name] for name in names} | {name: state.get(name) for name in NEWER}
    counts = values["row"], values["count"]
    if any(type(value) is not int or value < 0 for value in counts):
        raise ValueError(f"its row and count must be integers of at least 0, got {counts!r:.60}")
    flags = [values[name] for name in ("firing", "acknowledged", "shelved")]
    if any(type(flag) is not bool for flag in flags):
        raise ValueError(f"its flags must be true or false, got {flags!r:.60}")
    values["shelf"] = dict(values["shelf"])
    if any(type(until) is not int for until in values["shelf"].values()):
        raise ValueError(f"its shelf must hold rows, got {values['shelf']!r:.60}")
    for name in ("pending", "event"):
        if values[name] is not None:
            values[name] = Run.from_json(values[name], channels=channels)
    known = MachineState(**values)
    runs = [run for run in (known.pending, known.event) if run is not None]
    if any(run.end > known.row for run in runs) or (known.firing and known.event is None):
        raise ValueError("its event does not fit its rows")
    return known
