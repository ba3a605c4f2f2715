"""`evaluate`, `evaluate_alarms` and `chance_level`: all metrics of one series in one call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from axonad.errors import ConfigError
from axonad.metrics.alarm_report import AlarmReport, describe_alarms
from axonad.metrics.case import Case, check_binary
from axonad.metrics.point_f1 import best_point
from axonad.metrics.registry import ALARM_METRICS, ALIASES, METRICS, SCORE_METRICS, resolve_names
from axonad.metrics.vus_window import Window, choose_window


class Evaluation(dict[str, float]):
    """Metric values by name; the names of TSB-AD are accepted as keys too.

    Attributes
    ----------
    window
        The VUS window in steps.
    window_source
        ``"given"``, ``"default"`` or the name of the rule that chose the window.
    alarms
        An `AlarmReport`: threshold, precision and recall there, delays, false alarms.
    """

    def __init__(self, values: Mapping[str, float], *, window: Window, alarms: AlarmReport) -> None:
        super().__init__(values)
        self.window = window.length
        self.window_source = window.source
        self.alarms = alarms

    def __missing__(self, key: str) -> float:
        if ALIASES.get(key, key) == key:
            raise KeyError(key)
        return self[ALIASES[key]]

    def __str__(self) -> str:
        return "{" + ", ".join(f'"{name}": {value:.4f}' for name, value in self.items()) + "}"

    def with_tsb_ad_names(self) -> dict[str, float]:
        """Return the values under the names TSB-AD uses."""
        return {METRICS[name].tsb_ad_name: value for name, value in self.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return all values ready for JSON, with NaN as None."""
        return {
            "metrics": {k: None if math.isnan(v) else v for k, v in self.items()},
            "window": self.window,
            "window_source": self.window_source,
            "alarms": self.alarms.as_dict(),
        }


def evaluate(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    window: int | str | None = None,
    channel: ArrayLike | None = None,
    times: ArrayLike | None = None,
    metrics: Iterable[str] | None = None,
) -> Evaluation:
    """Return every metric of one scored series, equal to TSB-AD 1.5's values.

    Parameters
    ----------
    scores
        One finite number per step; higher means more anomalous.
    labels
        0 (normal) or 1 (anomaly) per step, at least one of each.
    window
        The VUS window: a number of steps, or a rule (``"tsb-ad-1.5"``, ``"tsb-ad-2026"``) that
        derives it from ``channel``. Default 100, or ``"tsb-ad-2026"`` if a channel is given.
    channel
        The channel whose dominant period sets the window; TSB-AD uses the first one.
    times
        Time of every step (datetimes or seconds), for delays in seconds and alarms per hour.
    metrics
        Names to compute; all of `SCORE_METRICS` by default.

    Returns
    -------
    Evaluation
        A dict from metric name to value; its attribute ``alarms`` reports events and false alarms
        at the threshold of the best Standard-F1.

    Examples
    --------
    >>> result = evaluate([0.1, 0.2, 0.9, 0.8, 0.1], [0, 0, 1, 1, 0], window=2)
    >>> result["AUC-PR"], result.alarms.threshold, result.alarms.found
    (1.0, 0.8, 1)
    """
    names = resolve_names(metrics, SCORE_METRICS)
    chosen = choose_window(window, channel=channel)
    case = Case.from_scores(scores, labels, window=chosen.length)
    threshold = case.once(best_point)[1]
    alarms = case.values >= threshold
    report = describe_alarms(alarms, case.labels, times=times, threshold=threshold)
    values = {name: SCORE_METRICS[name](case) for name in names}
    return Evaluation(values, window=chosen, alarms=report)


def evaluate_alarms(
    alarms: ArrayLike,
    labels: ArrayLike,
    *,
    window: int | str | None = None,
    channel: ArrayLike | None = None,
    times: ArrayLike | None = None,
    metrics: Iterable[str] | None = None,
) -> Evaluation:
    """Return every metric of given 0/1 alarms, equal to TSB-AD 1.5's values for predictions.

    Parameters are those of `evaluate`, with 0/1 alarms in place of scores. Without any alarm
    Affiliation-F1 and VUS-Precision are NaN.

    Examples
    --------
    >>> evaluate_alarms([0, 0, 0, 1, 0], [0, 0, 1, 1, 0], window=2).alarms.delays
    (1,)
    """
    names = resolve_names(metrics, ALARM_METRICS)
    chosen = choose_window(window, channel=channel)
    case = Case.from_alarms(alarms, labels, window=chosen.length)
    report = describe_alarms(case.values > 0, case.labels, times=times)
    values = {name: ALARM_METRICS[name](case) for name in names}
    return Evaluation(values, window=chosen, alarms=report)


def chance_level(
    labels: ArrayLike,
    *,
    window: int | str | None = None,
    channel: ArrayLike | None = None,
    alarm_rate: float | None = None,
    draws: int = 10,
    seed: int = 0,
    metrics: Iterable[str] | None = None,
) -> dict[str, float]:
    """Return the value of each metric for random scores on these labels (mean over draws).

    Scores are independent and uniform. With ``alarm_rate`` random alarms of that rate are
    evaluated with `evaluate_alarms` instead.

    Examples
    --------
    >>> level = chance_level([0] * 90 + [1] * 10, window=10, draws=200)
    >>> round(level["AUC-ROC"], 1)
    0.5
    """
    if draws < 1:
        raise ConfigError(f"draws must be at least 1, got {draws}")
    if alarm_rate is not None and not 0 < alarm_rate < 1:
        raise ConfigError(f"alarm_rate must lie between 0 and 1, got {alarm_rate}")
    truth = check_binary(labels, name="labels")
    length = choose_window(window, channel=channel).length
    known = SCORE_METRICS if alarm_rate is None else ALARM_METRICS
    names = resolve_names(metrics, known)
    rng = np.random.default_rng(seed)
    total = dict.fromkeys(names, 0.0)
    for _ in range(draws):
        noise = rng.random(truth.size)
        if alarm_rate is None:
            drawn = evaluate(noise, truth, window=length, metrics=names)
        else:
            drawn = evaluate_alarms(noise < alarm_rate, truth, window=length, metrics=names)
        total = {name: value + drawn[name] for name, value in total.items()}
    return {name: value / draws for name, value in total.items()}
