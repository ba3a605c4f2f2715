"""What `evaluate` hands back: metric values by name, the window used, and operator figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from axonad.metrics.delay import AlarmReport
from axonad.metrics.table import ALIASES, METRICS
from axonad.metrics.window import Window


class Evaluation(dict[str, float]):
    """Metric values by name; TSB-AD's names work as keys too.

    Attributes
    ----------
    window : int
        The VUS window that was used, in steps.
    window_source : str
        ``"given"``, ``"default"`` or the rule that chose the window.
    alarms : AlarmReport
        Operator figures: best threshold, precision and recall there, delays, false alarms.
    """

    def __init__(self, values: Mapping[str, float], *, window: Window, alarms: AlarmReport) -> None:
        super().__init__(values)
        self.window = window.length
        self.window_source = window.source
        self.alarms = alarms

    def __missing__(self, key: str) -> float:
        """Return the value under TSB-AD's name of the metric."""
        if ALIASES.get(key, key) == key:
            raise KeyError(key)
        return self[ALIASES[key]]

    def __str__(self) -> str:
        return "{" + ", ".join(f'"{name}": {value:.4f}' for name, value in self.items()) + "}"

    def with_tsb_ad_names(self) -> dict[str, float]:
        """Return the values under the names TSB-AD uses."""
        return {METRICS[name].tsb_ad_name: value for name, value in self.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON (undefined values as None)."""
        return {
            "metrics": {k: None if math.isnan(v) else v for k, v in self.items()},
            "window": self.window,
            "window_source": self.window_source,
            "alarms": self.alarms.as_dict(),
        }
