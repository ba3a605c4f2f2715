"""Options with which the user moves a detector's alarm threshold."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.threshold import set_threshold

Threshold = Annotated[
    float | None,
    typer.Option("--threshold", help="Alarm above this score. Default: the model's threshold."),
]
AlarmRate = Annotated[
    float | None,
    typer.Option(
        "--alarm-rate",
        help="Set the threshold so that about this share of normal steps exceeds it, by the "
        "model's rule and training scores: 0.001 is one step in a thousand.",
    ),
]


def apply_threshold(detector: Detector, threshold: float | None, alarm_rate: float | None) -> None:
    """Set the detector's threshold as the options say; without options it stays as it is."""
    if threshold is not None and alarm_rate is not None:
        raise ConfigError("--threshold and --alarm-rate exclude each other; pass one of them")
    if threshold is not None:
        if not math.isfinite(threshold):
            raise ConfigError(f"--threshold must be a finite number, got {threshold}")
        detector.threshold_ = threshold
    if alarm_rate is not None:
        if not 0 < alarm_rate < 0.5:
            raise ConfigError(f"--alarm-rate must lie between 0 and 0.5, got {alarm_rate}")
        scores = detector.decision_scores_
        detector.threshold_ = set_threshold(scores, rule=detector.threshold, rate=alarm_rate)
    if (
        detector.alarm_setup_ is not None
        and detector.threshold_ != detector.alarm_setup_.policy.start
    ):
        detector.set_alarms(detector.alarm_setup_.moved(detector.threshold_))
