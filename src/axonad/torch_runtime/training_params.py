"""What detectors that train a network share: parameter checks and the validation split."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, Protocol, get_type_hints

from axonad.config import check_bool, check_float, check_int, check_ints
from axonad.data.recordings import Recordings
from axonad.errors import ConfigError


class TrainingParams(Protocol):
    """The parameters every detector that trains a network has."""

    window: int
    lr: float
    weight_decay: float
    batch_size: int
    epochs: int
    epoch_windows: int | None
    patience: int
    validation: float
    restore_best: bool
    seed: int
    device: str
    verbose: bool


def check_training_params(params: TrainingParams) -> None:
    """Raise ConfigError on the first training parameter that is of a wrong type or out of range."""
    for name in ("window", "batch_size", "epochs", "patience"):
        check_int(name, getattr(params, name), low=1)
    if params.epoch_windows is not None:
        check_int("epoch_windows", params.epoch_windows, low=1)
    check_int("seed", params.seed, low=0, high=2**63 - 1)
    check_float("lr", params.lr, above=0)
    check_float("weight_decay", params.weight_decay, low=0)
    check_float("validation", params.validation, low=0, below=1)
    check_bool("restore_best", params.restore_best)
    check_bool("verbose", params.verbose)
    if not isinstance(params.device, str):
        raise ConfigError(f"device must be a name such as 'auto' or 'cpu', got {params.device!r}")


def check_by_type(params: Any, *, zero_allowed: Collection[str] = ()) -> None:
    """Raise ConfigError on the first field of a dataclass whose value does not suit its type.

    Integers are sizes, at least 1 (0 if listed in ``zero_allowed``), alone or in tuples; floats are
    at least 0, and ``dropout`` is below 1; booleans are True or False.
    """
    hints = get_type_hints(type(params))
    for field in dataclasses.fields(params):
        name, value, hint = field.name, getattr(params, field.name), hints[field.name]
        if hint is int:
            check_int(name, value, low=0 if name in zero_allowed else 1)
        elif hint is float:
            check_float(name, value, low=0, below=1 if name == "dropout" else None)
        elif hint is bool:
            check_bool(name, value)
        elif hint == tuple[int, ...]:
            check_ints(name, value)


def count_training_rows(rows: int | Recordings, *, validation: float, window: int) -> int:
    """Return how many of ``rows`` rows are for training; the rest, at the end, is for validation.

    All rows are for training if that share would not be longer than one window. The rest is whole
    recordings where there are at least three, see :meth:`axonad.data.recordings.Recordings.cut`.

    >>> count_training_rows(400, validation=0.2, window=100)
    320
    >>> count_training_rows(125, validation=0.2, window=100)
    125
    """
    recordings = Recordings.one(rows) if isinstance(rows, int) else rows
    cut = recordings.cut(validation)
    return cut if max(recordings.before(cut).lengths, default=0) > window else recordings.rows


def select_fields(cls: type, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``params`` that are fields of the dataclass ``cls``."""
    names = {field.name for field in dataclasses.fields(cls)}
    return {name: value for name, value in params.items() if name in names}
