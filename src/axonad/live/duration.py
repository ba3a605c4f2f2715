"""Durations as people write them in a configuration."""

from __future__ import annotations

import re

from axonad.errors import ConfigError

UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
FORM = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|min|h|d)\s*")


def to_seconds(name: str, text: str) -> float:
    """Return a duration such as ``"500ms"`` or ``"1h"`` in seconds.

    >>> to_seconds("expire", "10min")
    600.0
    """
    found = FORM.fullmatch(text)
    if found is None:
        raise ConfigError(f"{name} must be a duration such as 500ms, 2s, 10min or 1d, got {text!r}")
    return float(found[1]) * UNITS[found[2]]


def to_micros(name: str, text: str) -> int:
    """Return a duration in microseconds."""
    return round(to_seconds(name, text) * 1e6)
