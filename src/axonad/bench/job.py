"""A job: one detector on one series with one seed under one protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from axonad.bench.row import PROTOCOLS
from axonad.bench.sources import LoadedSeries, SeriesRef
from axonad.config import check_choice
from axonad.data.scaling import SCALINGS
from axonad.data.windows import ALIGNMENTS
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.metrics.vus_window import DEFAULT_RULE, choose_window
from axonad.registry import make_detector

EXECUTION_PARAMS = ("device", "verbose")
"""Parameters that do not change the scores of a job."""

ADDED_LATER = {
    "alarm_budget": None, "context": (), "epoch_windows": None, "overlap": True,
    "seconds_per_step": None,
}  # fmt: skip
"""Parameters added after rows were committed, with the value that keeps the earlier behaviour."""


def scoring_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that decide a job's scores, after a JSON round trip."""
    deciding = {
        name: value
        for name, value in params.items()
        if name not in EXECUTION_PARAMS and not (name in ADDED_LATER and value == ADDED_LATER[name])
    }
    plain: dict[str, Any] = json.loads(json.dumps(deciding, default=str))
    return plain


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How detectors are run and evaluated; every published number names its protocol.

    **parity** follows the paper's runs: each detector's ``parity`` parameters, fitted on the rows
    TSB-AD fits it on; the whole series is scored and judged, training rows included. **heldout** is
    the same for the rows after the training part only. **leaderboard** is parity with the
    parameters of TSB-AD's leaderboard of 2024. **causal** uses no value after the scored window:
    each detector's own defaults, always fitted on the training prefix.
    """

    name: str
    scaling: str | None = None  # for every detector with this parameter; None: its default
    align: str | None = None  # likewise
    window: int | str = DEFAULT_RULE  # VUS window: steps, or a rule that reads the first channel

    def __post_init__(self) -> None:
        check_choice("protocol", self.name, PROTOCOLS)
        if self.scaling is not None:
            check_choice("scaling", self.scaling, SCALINGS)
        if self.align is not None:
            check_choice("align", self.align, ALIGNMENTS)
        if self.name == "causal" and self.scaling == "array":
            raise ConfigError("scaling 'array' looks into the future; use it with protocol parity")
        choose_window(self.window, channel=[0.0, 1.0, 0.0, 1.0])  # raises for an unknown rule

    def settings(self, cls: type[Detector]) -> dict[str, Any]:
        """Return the parameters this protocol sets for a detector."""
        own = {} if self.name == "causal" else dict(cls.parity)
        own |= dict(cls.leaderboard) if self.name == "leaderboard" else {}
        known = cls.__dataclass_fields__
        ours = {"scaling": self.scaling, "align": self.align}
        return own | {k: v for k, v in ours.items() if v is not None and k in known}


@dataclass(frozen=True, kw_only=True)
class Job:
    """One unit of work of a suite; small, because it refers to its series without holding it.

    ``params`` are all parameters of the detector; ``trained_on`` says whether it is fitted on the
    training ``"prefix"`` or on the very ``"series"`` it scores.
    """

    suite: str
    series: SeriesRef
    detector: str
    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int
    protocol: Protocol
    trained_on: str = "prefix"

    def divide(self, series: LoadedSeries) -> LoadedSeries:
        """Return the job's series, divided as its protocol says into training and scored steps.

        Under causal, the source of the series decides: TSB-AD's series are scored as a whole, of a
        generated drive the part after the training rows.
        """
        first = {"causal": series.scored_from, "heldout": series.train_steps}
        return series.scored(first.get(self.protocol.name, 0))

    @property
    def key(self) -> str:
        """A short hash of everything that decides the row; where the job runs does not matter."""
        return self._digest(self.label, asdict(self.protocol))

    @property
    def fit_key(self) -> str:
        """A short hash of everything that decides the scores; label and VUS window do not."""
        return self._digest(self.detector, asdict(replace(self.protocol, window=DEFAULT_RULE)))

    def make_detector(self, *, device: str | None = None) -> Detector:
        """Return the job's detector, unfitted; refuse one that its protocol does not allow."""
        params = dict(self.params)
        if "verbose" in params:
            params["verbose"] = False
        if device is not None and "device" in params:
            params["device"] = device
        detector = make_detector(self.detector, **params)
        if self.protocol.name == "causal" and not detector.is_causal:
            raise ConfigError(f"{detector!r} is not causal; run it under protocol parity")
        return detector

    def _digest(self, label: str, protocol: Mapping[str, Any]) -> str:
        # Committed rows carry these keys: neither the order nor the content may change.
        series = [self.series.source, self.series.name, sorted(self.series.options.items())]
        identity = [
            self.suite, series, self.detector, label, scoring_params(self.params), self.seed,
            protocol, self.trained_on,
        ]  # fmt: skip
        if self.series.source != "files" and self.protocol.name in ("parity", "leaderboard"):
            identity.append("whole stream")  # rows of earlier versions covered its second half
        text = json.dumps(identity, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
