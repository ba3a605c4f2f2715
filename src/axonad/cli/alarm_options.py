"""Options that set the threshold of alarms for one command: a score, or a rate of false alarms."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.threshold import set_threshold

Threshold = Annotated[
    float | None,
    typer.Option("--threshold", help="Score above which a step is an alarm. Default: the model's."),
]
AlarmRate = Annotated[
    float | None,
    typer.Option(
        "--alarm-rate",
        help="Accepted share of false alarms among normal steps, above 0 and below 0.5; sets the "
        "threshold from the model's training scores.",
    ),
]


def apply_threshold(detector: Detector, threshold: float | None, alarm_rate: float | None) -> None:
    """Set the detector's ``threshold_`` from one of the two options; without them it stays."""
    if threshold is not None and alarm_rate is not None:
        raise ConfigError("--threshold and --alarm-rate both set the threshold; leave out one")
    if threshold is not None:
        if not math.isfinite(threshold):
            raise ConfigError(f"--threshold must be a finite number, got {threshold}")
        detector.threshold_ = float(threshold)
    if alarm_rate is not None:
        if not 0 < alarm_rate < 0.5:
            raise ConfigError(f"--alarm-rate must be above 0 and below 0.5, got {alarm_rate}")
        scores = detector.decision_scores_
        detector.threshold_ = set_threshold(scores, rule=detector.threshold, rate=alarm_rate)
