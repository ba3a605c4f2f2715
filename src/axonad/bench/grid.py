"""The ``grid`` of a suite's detector: one detector for every combination of parameter values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from axonad.errors import ConfigError

MAX_COMBINATIONS = 10_000


def expand_grid(entry: Any) -> Iterator[Any]:
    """Yield the entry of a suite's detector once for every combination of its ``grid``.

    The last parameter varies fastest. The label is a pattern that names every parameter, such as
    ``"window {window}, k {tail}"``; by default it is the detector's name, parameters and values.

    >>> entry = {"name": "AxonAD", "grid": {"window": [50, 100], "tail": [3]}}
    >>> [made["label"] for made in expand_grid(entry)]
    ['AxonAD, window 50, tail 3', 'AxonAD, window 100, tail 3']
    """
    if not isinstance(entry, Mapping) or "grid" not in entry:
        yield entry
        return
    rest = {name: value for name, value in entry.items() if name != "grid"}
    grid = entry["grid"]
    _check(grid, rest)
    named = ", ".join([str(rest.get("name")), *(f"{name} {{{name}}}" for name in grid)])
    pattern = rest.get("label") or named
    _check_pattern(pattern, grid)
    for values in product(*grid.values()):
        params = dict(zip(grid, values, strict=True))
        label = re.sub(r"{(\w+)}", lambda found: str(params[found[1]]), pattern)  # noqa: B023
        yield {**rest, "label": label, "params": {**rest.get("params", {}), **params}}


def _check(grid: Any, rest: Mapping[str, Any]) -> None:
    """Refuse a grid that is not a table of lists, and parameters that are set twice."""
    if not isinstance(grid, Mapping) or not grid:
        raise ConfigError(f"grid must list values, such as {{ window = [50, 100] }}, got {grid!r}")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"grid.{name} must be a list of values, got {values!r}")
        if any(value in values[:i] for i, value in enumerate(values)):
            raise ConfigError(f"grid.{name} lists a value twice: {values!r}")
        others = {"params": rest.get("params", {}), **rest.get("on", {})}
        if any(name in params for params in others.values()):
            raise ConfigError(f"{name} is in the grid and is also set by params or on; choose one")
    count = math.prod(len(values) for values in grid.values())
    if count > MAX_COMBINATIONS:
        raise ConfigError(
            f"the grid has {count:,} combinations; at most {MAX_COMBINATIONS:,} are allowed"
        )


def _check_pattern(pattern: Any, grid: Mapping[str, Any]) -> None:
    """Refuse a label that does not name every parameter of the grid, or names another."""
    if not isinstance(pattern, str):
        raise ConfigError(f"label must be a line of text, got {pattern!r}")
    named = re.findall(r"{(.*?)}", pattern)
    for name in grid:
        if name not in named:
            raise ConfigError(
                f"label {pattern!r} must name every parameter of the grid; {{{name}}} is missing"
            )
    for name in named:
        if name not in grid:
            raise ConfigError(f"label {pattern!r} names {{{name}}}, which is not in the grid")
