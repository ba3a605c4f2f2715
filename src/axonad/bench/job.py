"""A job: one detector on one series with one seed under one protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from axonad.bench.row import PROTOCOLS
from axonad.bench.sources import SeriesRef
from axonad.config import check_choice
from axonad.data.scaling import SCALINGS
from axonad.data.windows import ALIGNMENTS
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.metrics.vus_window import DEFAULT_RULE, choose_window
from axonad.registry import make_detector

UNIMPORTANT = ("device", "verbose")
"""Parameters that say how a job runs, not what it is."""

NEUTRAL = {"epoch_windows": None}
"""Parameters that came after rows were made, and the value with which all is as it was."""


def important(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that decide what a job is, in the form JSON gives."""
    kept = {
        name: value
        for name, value in params.items()
        if name not in UNIMPORTANT and not (name in NEUTRAL and value == NEUTRAL[name])
    }
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return plain


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How detectors are run and judged; every figure names it.

    **parity** follows the published runs: each detector's ``parity`` parameters, fitted on what
    TSB-AD fits it on. **causal** uses nothing behind a window: each detector's own defaults,
    always fitted on the training prefix.

    Parameters
    ----------
    name
        ``"parity"`` or ``"causal"``.
    scaling, align
        Set for every detector that has such a parameter; None leaves the detector's choice.
    window
        The VUS window: a number of steps, or a rule that reads it from the first channel.
    """

    name: str
    scaling: str | None = None
    align: str | None = None
    window: int | str = DEFAULT_RULE

    def __post_init__(self) -> None:
        check_choice("protocol", self.name, PROTOCOLS)
        if self.scaling is not None:
            check_choice("scaling", self.scaling, SCALINGS)
        if self.align is not None:
            check_choice("align", self.align, ALIGNMENTS)
        if self.name == "causal" and self.scaling == "array":
            raise ConfigError("scaling 'array' looks into the future; use it with protocol parity")
        choose_window(self.window, channel=[0.0, 1.0, 0.0, 1.0])

    def settings(self, cls: type[Detector]) -> dict[str, Any]:
        """Return the parameters this protocol sets for a detector."""
        own = dict(cls.parity) if self.name == "parity" else {}
        known = cls.__dataclass_fields__
        ours = {"scaling": self.scaling, "align": self.align}
        return own | {k: v for k, v in ours.items() if v is not None and k in known}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to run. Small: the series is named, not carried.

    ``params`` are the detector's parameters, all of them; ``trained_on`` says whether it learns
    from the training ``"prefix"`` or from the very ``"series"`` it scores.
    """

    suite: str
    series: SeriesRef
    detector: str
    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int
    protocol: Protocol
    trained_on: str = "prefix"

    @property
    def key(self) -> str:
        """A short hash of everything that decides the row; where it runs does not count."""
        return self._digest(self.label, asdict(self.protocol))

    @property
    def fit_key(self) -> str:
        """As ``key``, for the scores: how they are judged and called does not count."""
        return self._digest(self.detector, asdict(replace(self.protocol, window=DEFAULT_RULE)))

    def make(self, *, device: str | None = None) -> Detector:
        """Return the detector of this job, unfitted."""
        params = dict(self.params)
        if "verbose" in params:
            params["verbose"] = False
        if device is not None and "device" in params:
            params["device"] = device
        return make_detector(self.detector, **params)

    def decisive(self) -> dict[str, Any]:
        """Return the parameters that decide the scores, as JSON would give them back."""
        return important(self.params)

    def _digest(self, label: str, protocol: Mapping[str, Any]) -> str:
        series = [self.series.source, self.series.name, sorted(self.series.options.items())]
        story = [
            self.suite, series, self.detector, label, self.decisive(), self.seed,
            protocol, self.trained_on,
        ]  # fmt: skip
        text = json.dumps(story, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
