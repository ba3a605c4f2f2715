"""Scales from the arrays of a model file, checked: finite, units above 0, spreads at least 0."""

from __future__ import annotations

from axonad.data.scaling import Scaler
from axonad.modelfile import Arrays, take
from axonad.score.standardise import RobustScale


def restore_scaler(rule: str, arrays: Arrays, *names: str, channels: int) -> Scaler:
    """Return the scaler of which ``names`` are the arrays of centres and units."""
    center, unit = names or ("scaler.center", "scaler.unit")
    return Scaler(rule, take(arrays, center, channels), take(arrays, unit, channels, above=0))


def restore_scale(arrays: Arrays, name: str, length: int) -> RobustScale:
    """Return the scale in the arrays ``<name>.median`` and ``<name>.spread``."""
    spread = take(arrays, f"{name}.spread", length, low=0)
    return RobustScale(take(arrays, f"{name}.median", length), spread)
