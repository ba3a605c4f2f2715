"""A suite: which detectors, on what data, with which seeds, under which protocols. A TOML file.

::

    name = "telemetry"
    seeds = [2024, 2025]

    [data]
    source = "telemetry"        # or "files" with path and split

    [protocols.parity]          # align, scaling, window: what holds for all detectors
    [protocols.causal]
    window = 100

    [[detectors]]
    name = "AxonAD"
    params = { window = 50 }    # optional, as are label and protocols
    on.SMD = { window = 20 }    # and other parameters on series with this in their name
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from axonad.bench import sources
from axonad.bench.job import Job, Protocol
from axonad.bench.row import PROTOCOLS
from axonad.bench.sources import SeriesRef
from axonad.config import build, check_choice, check_float, check_int, read_toml
from axonad.errors import ConfigError, FileError, UnknownNameError, suggest
from axonad.registry import REGISTRY, detector_class

FILE = "suite.toml"


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A detector of a suite: its registered name, its name in tables, its own parameters.

    ``protocols`` limits it to some of the suite's protocols; ``on`` holds, by a part of their
    names, parameters for some of the series.
    """

    name: str
    label: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    protocols: tuple[str, ...] = PROTOCOLS

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.label or self.name

    def params_on(self, series: str) -> dict[str, Any]:
        """Return the parameters for the series of that name."""
        found = dict(self.params)
        for part, params in self.on.items():
            found |= dict(params) if part in series else {}
        return found


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What a suite file says."""

    name: str
    title: str = ""
    seeds: tuple[int, ...] = (2024,)
    data: Mapping[str, Any]
    protocols: tuple[Protocol, ...]
    detectors: tuple[Entrant, ...]
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
        """Return all jobs of the suite, or those that fit every choice given.

        ``detectors`` are names or labels (a registered detector the suite does not list is added
        with its defaults), ``series`` parts of series names, ``split`` the list they belong to.
        """
        entrants = self._choose_detectors(detectors)
        chosen = self._choose_protocols(protocols)
        refs = _choose_series(sources.find(self.data, seeds=seeds or self.seeds), series, split)
        found = [
            self._job(ref, entrant, protocol, seed)
            for ref in refs
            for entrant in entrants
            for protocol in chosen
            if protocol.name in entrant.protocols
            for seed in _seeds(entrant, ref, seeds or self.seeds)
        ]
        return list({job.key: job for job in found}.values())

    def _job(self, ref: SeriesRef, entrant: Entrant, protocol: Protocol, seed: int) -> Job:
        cls = detector_class(entrant.name)
        params = protocol.settings(cls) | entrant.params_on(ref.name)
        if "seed" in cls.__dataclass_fields__:
            params["seed"] = seed
        learns_from = next(e.learns_from for e in REGISTRY if e.name == entrant.name)
        return Job(
            suite=self.name,
            series=ref,
            detector=entrant.name,
            label=entrant.title,
            params=build(cls, params).get_params(),
            seed=seed,
            protocol=protocol,
            trained_on=learns_from if protocol.name == "parity" else "prefix",
        )

    def _choose_detectors(self, names: Sequence[str]) -> list[Entrant]:
        chosen: list[Entrant] = []
        for name in names:
            listed = [e for e in self.detectors if name in (e.name, e.title)]
            if not listed:
                detector_class(name)  # says "did you mean"
            chosen += listed or [Entrant(name=name)]
        return chosen or list(self.detectors)

    def _choose_protocols(self, names: Sequence[str]) -> list[Protocol]:
        known = [p.name for p in self.protocols]
        for name in names:
            if name not in known:
                raise UnknownNameError(
                    f"suite {self.name} has no protocol {name!r}; it has {', '.join(known)}"
                )
        return [p for p in self.protocols if not names or p.name in names]


def read_suite(name: str | Path, *, data: str | Path | None = None) -> Suite:
    """Return the suite in a file or folder, or of a name in ``benchmarks/`` or in the package.

    ``data`` replaces the path of its series; otherwise the suite's own path is looked for beside
    the current folder, beside the suite and in the folder AXONAD_DATA names.
    """
    path = _locate(str(name))
    table = dict(read_toml(path))
    try:
        return _parse(table, path, data)
    except (TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from None


def known_suites() -> dict[str, Path]:
    """Return the suites that have a name: those under ``benchmarks/`` here, then the package's.

    ``benchmarks/paper/ablation/`` is called ``paper-ablation``.
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


def _parse(table: dict[str, Any], path: Path, data: str | Path | None) -> Suite:
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
        "detectors": tuple(build(Entrant, entry) for entry in table["detectors"]),
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
    """Refuse what could only fail in the middle of a run, or after it."""
    for name, limit in (("seconds", suite.time_limit), ("memory_mb", suite.memory_limit)):
        if limit is not None:
            check_float(f"limits.{name}", limit, above=0)
    for seed in suite.seeds:
        check_int("seeds", seed, low=0)
    names = [protocol.name for protocol in suite.protocols]
    taken: set[tuple[str, str]] = set()
    for entrant in suite.detectors:
        check_plain("label", entrant.title)
        if not isinstance(entrant.protocols, tuple):
            raise ConfigError(f"protocols must be a list of names, got {entrant.protocols!r}")
        if not all(isinstance(params, Mapping) for params in entrant.on.values()):
            raise ConfigError(f"on must name tables of parameters, got {dict(entrant.on)!r}")
        for protocol in entrant.protocols:
            check_choice("protocols", protocol, PROTOCOLS)
            if (entrant.title, protocol) in taken and protocol in names:
                raise ConfigError(
                    f"two detectors are called {entrant.title!r} under {protocol}; "
                    "give each setting a label of its own"
                )
            taken.add((entrant.title, protocol))


def check_plain(name: str, text: object) -> None:
    """Refuse a name that is no plain text, or would lead out of a folder."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise ConfigError(f"{name} must be a line of text, got {text!r}")
    if name == "name" and ("/" in text or "\\" in text or text.startswith(".")):
        raise ConfigError(f"name must not hold a path, got {text!r}")


def _with_path(
    table: dict[str, Any], suite_file: Path, given: str | Path | None, *, suite: str
) -> dict[str, Any]:
    if given is not None and table.get("source") != "files":
        raise ConfigError(f"suite {suite} makes its own series; leave out --data")
    if table.get("source") != "files":
        return table
    if given is not None:
        return table | {"path": str(given)}
    names = table.get("path")
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not names or not all(isinstance(n, str) and n for n in names):
        raise ConfigError(f"data.path must name a folder or a zip, got {table.get('path')!r}")
    folders = [Path(), suite_file.parent, Path(os.environ.get("AXONAD_DATA", "."))]
    for folder in folders:
        for named in names:
            if (folder / named).exists():
                return table | {"path": str(folder / named)}
    raise FileError(
        f"suite {suite} needs {' or '.join(names)}, which is not here; pass --data FOLDER_OR_ZIP "
        "or set AXONAD_DATA to the folder it lies in"
    )


def _choose_series(
    refs: list[SeriesRef], parts: Sequence[str], split: str | None
) -> list[SeriesRef]:
    if split is not None:
        known = sorted({ref.split for ref in refs} - {""})
        refs = [ref for ref in refs if ref.split == split]
        if not refs:
            has = ", ".join(known) or "none"
            raise UnknownNameError(f"no series of split {split!r}; the suite has {has}")
    for part in parts:
        if not any(part in ref.name for ref in refs):
            raise UnknownNameError(
                f"no series has {part!r} in its name{suggest(part, [r.name for r in refs])}"
            )
    return [ref for ref in refs if not parts or any(part in ref.name for part in parts)]


def _seeds(entrant: Entrant, ref: SeriesRef, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds worth running: a generated series has its own, a fixed rule needs one."""
    if ref.seed is not None:
        return (ref.seed,)
    has_seed = "seed" in detector_class(entrant.name).__dataclass_fields__
    return seeds if has_seed else seeds[:1]
