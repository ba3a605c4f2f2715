"""The model card: what a fitted detector and its alarms are known to rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axonad.alarms.budget import Budget
from axonad.detector import Detector
from axonad.report.amounts import format_duration
from axonad.report.page.content import Card


def describe_model(detector: Detector, name: str) -> Card:
    """Return the model card of a fitted detector, loaded from the folder ``name``."""
    channels = detector.channel_names
    rows = [
        ("model", name),
        ("detector", type(detector).__name__),
        ("fingerprint", detector.fingerprint),
        *_training(detector),
        ("channels", _channels(channels, detector.n_features_in_)),
        ("rows a score looks at", f"{detector.history}"),
    ]
    if detector.context:
        rows.append(("channels that only set the scene", ", ".join(detector.context)))
    weights = getattr(detector, "weights_", None)
    if isinstance(weights, Mapping):
        listed = ", ".join(f"{view} {weight:.2f}" for view, weight in weights.items())
        rows.append(("weights of the views", listed))
    budget, alarms, cautions = _alarms(detector)
    return Card(name, tuple(rows + alarms), budget, cautions)


def _training(detector: Detector) -> list[tuple[str, str]]:
    known = detector.trained_on_ or {}
    words = [known["name"]] if known.get("name") else []
    count, interval = len(detector.decision_scores_), detector.interval_
    words.append(f"{count:,} rows")
    if interval is not None:
        words.append(f"{format_duration(count * interval)} at {interval:.6g} s per row")
    rows = [("trained on", ", ".join(words))]
    if known.get("from") and known.get("to"):
        rows.append(("times of the training data", f"{known['from']} to {known['to']}"))
    return rows


def _channels(names: tuple[str, ...] | None, count: int) -> str:
    return f"{count}" if names is None else f"{count}: {', '.join(names)}"


def _alarms(
    detector: Detector,
) -> tuple[str | None, list[tuple[str, str]], tuple[str, ...]]:
    """Return the budget, what is known about the alarms, and what casts doubt on them."""
    setup = detector.alarm_setup_
    if setup is None:
        rows = [("threshold", f"{detector.threshold_:.4g}, from training scores")]
        return None, rows, (
            "The model has no alarm budget, so its events have no severity and bad data is not "
            "looked for: axonad recalibrate gives it both.",
        )  # fmt: skip
    policy, found = setup.policy, setup.calibration
    rows = [("threshold", f"{policy.start:.4g}; an event ends below {policy.release:.4g}")]
    if found is None:
        return None, rows, ("The threshold was moved by hand; no calibration stands behind it.",)
    try:
        known = rows + _calibration(found, setup.version)
        return str(found["budget"]), known, _cautions(found)
    except (KeyError, TypeError, ValueError):  # the numbers of a model file are not checked
        return None, rows, ("The calibration in the model file cannot be read.",)


def _calibration(found: Mapping[str, Any], version: int) -> list[tuple[str, str]]:
    steps, seconds = found["steps"], found["seconds_per_step"]
    amount = f"{steps:,} rows" if seconds is None else f"{steps * seconds / 3600:.3g} h"
    low, high = found["interval"]
    events = found["events"]
    return [
        ("budget", f"{found['budget']} false events (version {version} of the alarms)"),
        (
            "calibrated on",
            f"{amount} of normal data with {events} event{'' if events == 1 else 's'}: "
            f"{found['rate']:.2g} per period of the budget, 95 % interval {low:.2g} to {high:.2g}",
        ),
    ]


def _cautions(found: Mapping[str, Any]) -> tuple[str, ...]:
    budget, cautions = Budget.parse(found["budget"]), []
    if found["promise"] > budget.events:
        cautions.append(
            f"The calibration data is too short to promise the budget: at 95 % it promises no "
            f"fewer than {found['promise']:.2g} events per {budget.period}."
        )
    if found["outlying"]:
        cautions.append(
            f"The calibration data itself has {found['outlying']} events far above the rest."
        )
    return tuple(cautions)
