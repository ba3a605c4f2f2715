"""Which packages are installed, and what is missing for what, by the package's own metadata."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

PURPOSES = {
    "baselines": "detectors that use scikit-learn",
    "bench": "benchmark suites and statistics",
    "can": "CAN logs: BLF, ASC, candump",
    "docs": "the site of the documentation",
    "live": "a fleet that is watched",
    "mcap": "MCAP recordings",
    "mdf": "MDF recordings",
    "mqtt": "messages by MQTT",
    "nats": "messages by NATS",
    "network": "networks: AxonAD, neural baselines",
    "onnx": "ONNX export",
    "plot": "figures",
    "postgres": "a store in PostgreSQL",
    "ray": "benchmarks and fleets on a Ray cluster",
}
DEVELOPMENT = "dev"  # the extra with the tools of axonad's own developers
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*\(?(?:>=\s*([0-9.]+))?")
_EXTRA = re.compile(r"extra\s*==\s*[\"']([\w-]+)[\"']")


class Package(NamedTuple):
    """A package that axonad uses: its version, None if it is not installed, and the least."""

    name: str
    version: str | None
    least: str
    extra: str  # empty for a package that is always needed

    @property
    def is_usable(self) -> bool:
        """Whether it is installed and new enough."""
        return self.version is not None and _numbers(self.version) >= _numbers(self.least)


def list_packages() -> list[Package]:
    """Return the packages axonad needs, then those of its extras; none if it is not installed."""
    found = []
    for text in _requirements():
        named = _REQUIREMENT.match(text)
        extra = _EXTRA.search(text)
        group = extra.group(1) if extra else ""
        if named is None or named.group(1) == "axonad" or group == DEVELOPMENT:
            continue
        name = named.group(1)
        found.append(Package(name, installed_version(name), named.group(2) or "0", group))
    return sorted(found, key=lambda package: (package.extra, package.name))


def missing_extras(packages: list[Package]) -> dict[str, list[str]]:
    """Return what is not installed, or too old, by the extra that brings it."""
    missing: dict[str, list[str]] = {}
    for package in packages:
        if package.extra and not package.is_usable:
            missing.setdefault(package.extra, []).append(package.name)
    return missing


def installed_version(name: str) -> str | None:
    """Return the version of an installed package, None if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _requirements() -> list[str]:
    try:
        return requires("axonad") or []
    except PackageNotFoundError:
        return []


def _numbers(text: str) -> list[int]:
    """Return the numbers of a version, to compare.

    >>> _numbers("2.13.0+cpu"), _numbers("1.10rc1") > _numbers("1.9")
    ([2, 13, 0], True)
    """
    head = re.match(r"[0-9]+(?:\.[0-9]+)*", text)
    return [int(part) for part in head.group(0).split(".")] if head else []
