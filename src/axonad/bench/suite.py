"""A suite: a TOML file that lists detectors, data, seeds and protocols, and so a set of jobs.

::

    name = "telemetry"
    seeds = [2024, 2025]

    [data]
    source = "telemetry"        # or "files" with path and split

    [protocols.parity]          # parity, heldout, leaderboard, causal (axonad.bench.job.Protocol)
    [protocols.causal]          # optional: align, scaling, window, for all detectors
    window = 100

    [[detectors]]
    name = "AxonAD"
    params = { window = 50 }    # optional, as are label and protocols
    on.SMD = { window = 20 }    # other parameters on series with SMD in their name

    [[detectors]]               # a grid: one detector for every combination of values
    name = "AxonAD"
    label = "window {window}, k {tail}"
    grid = { window = [50, 100], tail = [3, 10] }
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from axonad.bench import sources
from axonad.bench.grid import expand_grid
from axonad.bench.job import Job, Protocol
from axonad.bench.row import PROTOCOLS
from axonad.bench.sources import SeriesRef
from axonad.config import build, check_choice, check_float, check_int, read_toml
from axonad.errors import ConfigError, FileError, UnknownNameError, suggest
from axonad.registry import REGISTRY, detector_class

FILE = "suite.toml"
Data = str | Path | Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class SuiteDetector:
    """One detector of a suite, with its parameters."""

    name: str  # in the registry
    label: str = ""  # in tables, where it differs from the name
    params: Mapping[str, Any] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by part of series name
    protocols: tuple[str, ...] = PROTOCOLS  # under which it runs

    @property
    def title(self) -> str:
        """The detector's name in tables."""
        return self.label or self.name

    def params_on(self, series: str) -> dict[str, Any]:
        """Return the parameters for a series, given its name."""
        found = dict(self.params)
        for part, params in self.on.items():
            found |= dict(params) if part in series else {}
        return found


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The content of a suite file."""

    name: str
    title: str = ""
    seeds: tuple[int, ...] = (2024,)
    data: Mapping[str, Any]
    protocols: tuple[Protocol, ...]
    detectors: tuple[SuiteDetector, ...]
    time_limit: float | None = None
    memory_limit: float | None = None

    def jobs(
        self,
        *,
        detectors: Sequence[str] = (),
        series: Sequence[str] = (),
        seeds: Sequence[int] = (),
        protocols: Sequence[str] = (),
        split: str | None = None,
    ) -> list[Job]:
        """Return the suite's jobs, or those that match every filter given.

        ``detectors`` are names or labels (a registered detector that the suite does not list is
        added with its defaults), ``series`` are parts of series names.
        """
        listed = self._choose_detectors(detectors)
        chosen = self._choose_protocols(protocols)
        refs = sources.choose(sources.find(self.data, seeds=seeds or self.seeds), series, split)
        found = [
            self._job(ref, detector, protocol, seed)
            for ref in refs
            for detector in listed
            for protocol in chosen
            if protocol.name in detector.protocols
            for seed in _seeds(detector, ref, seeds or self.seeds)
        ]
        return list({job.key: job for job in found}.values())

    def _job(self, ref: SeriesRef, detector: SuiteDetector, protocol: Protocol, seed: int) -> Job:
        cls = detector_class(detector.name)
        params = protocol.settings(cls) | detector.params_on(ref.name)
        if "seed" in cls.__dataclass_fields__:
            params["seed"] = seed
        learns_from = next(e.learns_from for e in REGISTRY if e.name == detector.name)
        return Job(
            suite=self.name,
            series=ref,
            detector=detector.name,
            label=detector.title,
            params=build(cls, params).get_params(),
            seed=seed,
            protocol=protocol,
            trained_on="prefix" if protocol.name == "causal" else learns_from,
        )

    def _choose_detectors(self, names: Sequence[str]) -> list[SuiteDetector]:
        chosen: list[SuiteDetector] = []
        for name in names:
            listed = [e for e in self.detectors if name in (e.name, e.title)]
            if not listed:
                detector_class(name)  # raises with "did you mean" for an unknown name
            chosen += listed or [SuiteDetector(name=name)]
        return chosen or list(self.detectors)

    def _choose_protocols(self, names: Sequence[str]) -> list[Protocol]:
        known = [p.name for p in self.protocols]
        for name in names:
            if name not in known:
                raise UnknownNameError(
                    f"suite {self.name} has no protocol {name!r}; it has {', '.join(known)}"
                )
        return [p for p in self.protocols if not names or p.name in names]


def read_suite(name: str | Path, *, data: Data = None) -> Suite:
    """Return a suite, given its file, its folder, or its name (:func:`known_suites`).

    ``data`` replaces the path of its series, or the whole table ``[data]``. Otherwise the path in
    the file is searched relative to the current folder, to the suite's folder and to the folder
    that AXONAD_DATA names.
    """
    path = _locate(str(name))
    table = read_toml(path)
    try:
        return _parse(table, path, data)
    except (TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None


def known_suites() -> dict[str, Path]:
    """Return the file of every named suite: those in ``benchmarks/`` and those in the package.

    The suite in ``benchmarks/paper/ablation/`` has the name ``paper-ablation``.
    """
    packaged = Path(str(files("axonad.bench"))) / "suites"
    checkout = Path(__file__).parents[3] / "benchmarks"
    found: dict[str, Path] = {p.stem: p for p in sorted(packaged.glob("*.toml"))}
    for folder in (checkout, Path("benchmarks")):
        for path in sorted(folder.glob(f"**/{FILE}")):
            found["-".join(path.parent.relative_to(folder).parts)] = path
    return found


def _locate(name: str) -> Path:
    path = Path(name)
    if path.is_dir() and (path / FILE).is_file():
        return path / FILE
    if path.suffix == ".toml":
        return path
    known = known_suites()
    if name in known:
        return known[name]
    raise UnknownNameError(
        f"no suite {name!r}{suggest(name, known)}; known: {', '.join(sorted(known))}, "
        f"or the path of a {FILE}"
    )


def _parse(table: dict[str, Any], path: Path, data: Data) -> Suite:
    limits = dict(table.pop("limits", {}))
    for name in ("name", "data", "protocols", "detectors"):
        if not table.get(name):
            raise ConfigError(f"it has no {name!r}")
    check_plain("name", table["name"])
    if not isinstance(table.get("seeds", []), list):
        raise ConfigError(f"seeds must be a list of numbers, got {table['seeds']!r}")
    settings: dict[str, Any] = {
        **table,
        "seeds": tuple(table.get("seeds", (2024,))),
        "data": _with_path(dict(table["data"]), path, data, suite=table["name"]),
        "protocols": tuple(
            build(Protocol, {"name": name, **values})
            for name, values in dict(table["protocols"]).items()
        ),
        "detectors": tuple(
            build(SuiteDetector, made)
            for entry in table["detectors"]
            for made in expand_grid(entry)
        ),
        "time_limit": limits.pop("seconds", None),
        "memory_limit": limits.pop("memory_mb", None),
    }
    if limits:
        raise ConfigError(
            f"limits has no setting {next(iter(limits))!r}; known: seconds, memory_mb"
        )
    suite = build(Suite, settings)
    _check(suite)
    return suite


def _check(suite: Suite) -> None:
    """Refuse values that would otherwise fail in the middle of a run."""
    for name, limit in (("seconds", suite.time_limit), ("memory_mb", suite.memory_limit)):
        if limit is not None:
            check_float(f"limits.{name}", limit, above=0)
    for seed in suite.seeds:
        check_int("seeds", seed, low=0)
    names = [protocol.name for protocol in suite.protocols]
    taken: set[tuple[str, str]] = set()
    for detector in suite.detectors:
        check_plain("label", detector.title)
        if not isinstance(detector.protocols, tuple):
            raise ConfigError(f"protocols must be a list of names, got {detector.protocols!r}")
        if not all(isinstance(params, Mapping) for params in detector.on.values()):
            raise ConfigError(f"on must name tables of parameters, got {dict(detector.on)!r}")
        for protocol in detector.protocols:
            check_choice("protocols", protocol, PROTOCOLS)
            if (detector.title, protocol) in taken and protocol in names:
                raise ConfigError(
                    f"two detectors are called {detector.title!r} under {protocol}; "
                    "give each of them a different label"
                )
            taken.add((detector.title, protocol))


def check_plain(name: str, text: object) -> None:
    """Refuse a name or label that is not one line of text, and a name that contains a path."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise ConfigError(f"{name} must be a line of text, got {text!r}")
    if name == "name" and ("/" in text or "\\" in text or text.startswith(".")):
        raise ConfigError(f"name must not contain a path, got {text!r}")


def _with_path(
    table: dict[str, Any], suite_file: Path, given: Data, *, suite: str
) -> dict[str, Any]:
    """Return the ``[data]`` table with the path at which its files were found."""
    if isinstance(given, Mapping):
        return dict(given)
    if table.get("source") != "files":
        if given is not None:
            raise ConfigError(f"suite {suite} generates its series; leave out --data")
        return table
    if given is not None:
        return table | {"path": str(given)}
    names = table.get("path")
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not names or not all(isinstance(n, str) and n for n in names):
        raise ConfigError(f"data.path must name a folder or a zip, got {table.get('path')!r}")
    for folder in (Path(), suite_file.parent, Path(os.environ.get("AXONAD_DATA", "."))):
        for named in names:
            if (folder / named).exists():
                return table | {"path": str(folder / named)}
    raise FileError(
        f"suite {suite} needs {' or '.join(names)}, which was not found; pass --data FOLDER_OR_ZIP "
        "or set AXONAD_DATA to the folder that contains it"
    )


def _seeds(detector: SuiteDetector, ref: SeriesRef, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds to run: a generated series has one, a deterministic detector needs one."""
    if ref.seed is not None:
        return (ref.seed,)
    is_random = "seed" in detector_class(detector.name).__dataclass_fields__
    return seeds if is_random else seeds[:1]
