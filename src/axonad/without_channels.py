"""A model that scores without some of the channels it was fitted on.

It is fitted again, on the sample of the training rows that the model keeps (``reference_``), with
the channels that are left. So relations to a missing channel are not missed, they are replaced by
those among the others, and scores are in units of rows that were held out. Only detectors that
learn in seconds can do that (``can_score_without``); MultiView leaves out the view that cannot, its
network. Nothing of the rows to score is used.

Thresholds move as the scores of training did, from the old median and upper tail to the new ones;
of three tails the one that moves them up most, because a sample says less than all of training.
Rules for bad data go on for the channels that are left; drift is not judged, because its blocks of
normal data were scored with all channels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.setup import AlarmSetup
from axonad.data.series import Series
from axonad.errors import ChannelError, ConfigError, DataWarning, suggest
from axonad.explain.reference import Reference, require_reference

if TYPE_CHECKING:
    from axonad.detector import Detector

ABLE = (
    "MultiView", "Relation", "Forecast", "ShapeMemory", "CrossChannelRidge", "PCA", "ControlChart",
)  # fmt: skip
"""Names of the detectors that can score without some channels, for messages."""
HINT = "; --allow-missing or detector.without([...]) scores without, if the detector can"
TAILS = (0.9, 0.99, 0.999)  # shares of training scores below the upper tail

Array = NDArray[np.float64]
Move = Callable[[float], float]


def without_channels(detector: Detector, missing: Sequence[str]) -> Detector:
    """Return a detector for data that lacks some channels of training; without any, itself.

    Raise ConfigError if the detector cannot do that, ChannelError if a name is unknown or nothing
    is left.
    """
    detector.check_fitted()
    if not missing:
        return detector
    columns = _columns_left(detector, missing)
    listed = ", ".join(map(repr, missing))
    if not detector.can_score_without:
        raise ConfigError(
            f"{type(detector).__name__} cannot score without {listed}, which it was fitted on; "
            f"these can: {', '.join(ABLE)}"
        )
    reference = require_reference(detector.reference_, channels=detector.n_features_in_)
    names = detector.channel_names or ()
    left = tuple(names[i] for i in columns)
    params = detector.get_params() | dict(detector.changes_without())
    params |= {"context": tuple(name for name in detector.context if name in left)}
    params |= {"alarm_budget": None}
    made = type(detector)(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        made.fit(_sample(reference, columns, left))
    made.units_ = {name: unit for name, unit in detector.units_.items() if name in left}
    made.interval_ = detector.interval_
    if detector.hold_ is not None:
        made.hold_ = {name: detector.hold_[name] for name in left}
    made.trained_on_ = detector.trained_on_
    move = _find_move(detector.decision_scores_, made.decision_scores_)
    made.threshold_ = max(made.threshold_, move(detector.threshold_))
    if detector.alarm_setup_ is not None:
        made.set_alarms(_alarms(detector.alarm_setup_, move, columns))
    return made


def _columns_left(detector: Detector, missing: Sequence[str]) -> list[int]:
    """Return the columns of the channels that are not missing."""
    names = detector.channel_names
    if isinstance(missing, str):
        raise ChannelError(f"missing must be a list of channel names, got {missing!r}")
    if names is None:
        raise ChannelError("the model was fitted without channel names; none can be left out")
    for name in missing:
        if name not in names:
            raise ChannelError(f"channel {name!r} not in model{suggest(name, names)}")
    columns = [i for i, name in enumerate(names) if name not in missing]
    if not [i for i in columns if i not in detector.context_columns]:
        raise ChannelError(f"without {', '.join(map(repr, missing))} no channel is left to judge")
    return columns


def _sample(reference: Reference, columns: list[int], names: tuple[str, ...]) -> list[Series]:
    """Return the training rows that a model keeps, in units of the input."""
    return [
        Series(
            values=reference.unscale(piece[:, columns].astype(np.float64), columns), channels=names
        )
        for piece in reference.pieces
    ]


def _alarms(setup: AlarmSetup, move: Move, columns: list[int]) -> AlarmSetup:
    """Return the alarms of a detector on the scale of another one's scores."""
    policy, moved = setup.policy, dict[str, Any]()
    for name in ("start", "end", "level"):
        value = getattr(policy, name)
        moved[name] = None if value is None else move(value)
    rules = None if setup.rules is None else setup.rules.keep(columns)
    policy = replace(policy, **moved)
    return replace(setup, policy=policy, rules=rules, calibration=None, drift=None)


def _find_move(before: Array, now: Array) -> Move:
    """Return what moves a threshold to where it lies in new scores as it lay in the old ones.

    >>> move = _find_move(np.linspace(0, 2, 101), np.linspace(1, 5, 101))
    >>> move(1.0), move(3.0)
    (3.0, 7.0)
    """
    middle, *tails = np.quantile(before, (0.5, *TAILS)).tolist()
    new_middle, *new_tails = np.quantile(now, (0.5, *TAILS)).tolist()
    pairs = zip(tails, new_tails, strict=True)
    factors = [(new - new_middle) / (old - middle) for old, new in pairs if old > middle]
    factor = max(factors, default=1.0)
    return lambda value: float(new_middle + factor * (value - middle))
