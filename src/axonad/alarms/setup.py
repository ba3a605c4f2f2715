"""What a model says about alarms: policy, rules for bad data, reference of drift, and their origin.

It is saved with the model. Every recalibration adds one to its version and keeps what was before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from axonad.alarms.bad_data import DataRules
from axonad.alarms.calibration import Calibration
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.policy import AlarmPolicy
from axonad.modelfile import check_entries

KEPT = 100  # earlier versions


@dataclass(frozen=True, eq=False)
class AlarmSetup:
    """The alarms of a model.

    ``calibration`` are the numbers of :meth:`Calibration.to_json`. ``before`` are the earlier
    versions, newest last: policy and calibration each, or the threshold of training alone.
    """

    policy: AlarmPolicy
    rules: DataRules | None = None
    calibration: Mapping[str, Any] | None = None
    version: int = 1
    before: tuple[Mapping[str, Any], ...] = ()
    drift: DriftReference | None = None

    @classmethod
    def following(
        cls,
        earlier: AlarmSetup | None,
        found: Calibration,
        *,
        rules: DataRules | None,
        threshold: float,
        drift: DriftReference | None = None,
    ) -> Self:
        """Return the setup of a calibration, after an earlier one or the threshold of training."""
        if earlier is None:
            before: tuple[Mapping[str, Any], ...] = ({"version": 0, "threshold": threshold},)
        else:
            last = {name: earlier.to_json()[name] for name in ("version", "policy", "calibration")}
            before = (*earlier.before, last)[-KEPT:]
        version = 1 if earlier is None else earlier.version + 1
        return cls(found.policy, rules, found.to_json(), version, before, drift)

    def moved(self, start: float) -> Self:
        """Return the setup with another start threshold, which no calibration stands behind."""
        policy = replace(self.policy.moved(start), pace=0.0)
        return replace(self, policy=policy, calibration=None)

    def to_json(self) -> dict[str, Any]:
        """Return the setup as JSON values."""
        return {
            "version": self.version,
            "policy": self.policy.to_json(),
            "calibration": None if self.calibration is None else dict(self.calibration),
            "rules": None if self.rules is None else self.rules.to_json(),
            "before": [dict(entry) for entry in self.before],
        } | ({} if self.drift is None else {"drift": self.drift.to_json()})

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, channels: int) -> Self:
        """Return a saved setup; raise an error if it makes no sense."""
        version, before = document["version"], document["before"]
        if type(version) is not int or version < 1:
            raise ValueError(f"the version of its alarms is {version!r:.40}; expected an integer")
        if not isinstance(before, list) or len(before) > KEPT:
            raise ValueError(f"the earlier alarms are {before!r:.40}; expected a list")
        rules, calibration = document["rules"], document["calibration"]
        drift = document.get("drift")  # models saved before there was any have none
        return cls(
            AlarmPolicy.from_json(document["policy"]),
            None if rules is None else DataRules.from_json(rules, channels=channels),
            None if calibration is None else dict(check_entries("calibration", calibration)),
            version,
            tuple(dict(check_entries("before", entry)) for entry in before),
            None if drift is None else DriftReference.from_json(drift, channels=channels),
        )
