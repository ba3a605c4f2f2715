"""``--small``: a suite made small enough for a quick trial. Its scores mean nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from axonad.bench.suite import Suite, SuiteDetector
from axonad.registry import detector_class

PARAMS = {"d_model": 16, "heads": 2, "epochs": 1, "dilations": [1, 2]}
STEPS = 2000
SEEDS = (2024, 2025)


def shrink_suite(suite: Suite, *, detectors: Sequence[str] = ()) -> Suite:
    """Return the suite with tiny networks, one epoch, and short generated series for two seeds.

    ``detectors`` are the ones to keep, by default all. Parameters the suite sets are kept, since
    they are what it compares.
    """
    kept = [e for e in suite.detectors if not detectors or e.title in detectors]
    return replace(
        suite,
        name=f"{suite.name}-small",
        data={"source": "telemetry", "steps": STEPS},
        seeds=SEEDS,
        protocols=tuple(replace(protocol, window=20) for protocol in suite.protocols),
        detectors=tuple(replace(e, params={**_small_params(e), **e.params}) for e in kept),
    )


def _small_params(detector: SuiteDetector) -> dict[str, Any]:
    """Return those of ``PARAMS`` that the detector has."""
    known = detector_class(detector.name).__dataclass_fields__
    return {name: value for name, value in PARAMS.items() if name in known}
