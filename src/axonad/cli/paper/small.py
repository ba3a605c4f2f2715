"""A miniature of a suite: its detectors, tiny, on two short drives. Says nothing of quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from axonad.bench.suite import Entrant, Suite
from axonad.registry import detector_class

TINY = {"d_model": 16, "heads": 2, "epochs": 1, "dilations": [1, 2]}
STEPS = 2000
SEEDS = (2024, 2025)


def shrink(suite: Suite, *, few: Sequence[str] = ()) -> Suite:
    """Return the suite with small networks, one epoch, and generated drives for two seeds.

    What a detector's own parameters say still holds: they are what the suite compares. ``few``
    names the detectors to keep, by default all.
    """
    kept = [e for e in suite.detectors if not few or e.title in few]
    return replace(
        suite,
        name=f"{suite.name}-small",
        data={"source": "telemetry", "steps": STEPS},
        seeds=SEEDS,
        protocols=tuple(replace(protocol, window=20) for protocol in suite.protocols),
        detectors=tuple(replace(e, params={**_tiny(e), **e.params}) for e in kept),
    )


def _tiny(entrant: Entrant) -> dict[str, Any]:
    """Return what of ``TINY`` the detector has."""
    known = detector_class(entrant.name).__dataclass_fields__
    return {name: value for name, value in TINY.items() if name in known}
