"""A miniature of a suite: the same detectors, tiny, on one short drive. Says nothing of quality."""

from __future__ import annotations

from dataclasses import replace

from axonad.bench.suite import Suite

TINY = {"d_model": 16, "heads": 2, "epochs": 1, "dilations": [1, 2]}
STEPS = 2000
SEEDS = 2


def shrink(suite: Suite) -> Suite:
    """Return the suite with small networks, one epoch, and generated drives for two seeds.

    What a detector's own parameters say still holds: they are what the suite compares.
    """
    return replace(
        suite,
        name=f"{suite.name}-small",
        data={"source": "telemetry", "steps": STEPS},
        seeds=suite.seeds[:SEEDS],
        protocols=tuple(replace(protocol, window=20) for protocol in suite.protocols),
        detectors=tuple(replace(e, params={**TINY, **e.params}) for e in suite.detectors),
    )
