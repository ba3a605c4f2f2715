"""Names that a shell completes: detectors, suites, metrics."""

from __future__ import annotations

from collections.abc import Iterator


def detector_names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the detectors that begin like this, with what they look at."""
    from axonad.registry import list_detectors

    for entry in list_detectors():
        if entry.name.startswith(incomplete):
            yield entry.name, entry.summary


def suite_names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the suites that begin like this, with their titles."""
    from axonad.bench.suite import known_suites
    from axonad.config import read_toml

    for name, path in sorted(known_suites().items()):
        if name.startswith(incomplete):
            yield name, str(read_toml(path).get("title", ""))


def metric_names(incomplete: str) -> Iterator[str]:
    """Yield the metrics that begin like this."""
    from axonad.metrics.registry import METRICS

    for name in METRICS:
        if name.startswith(incomplete):
            yield name
