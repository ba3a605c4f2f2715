"""Parameters: build a dataclass from a mapping, from TOML or from ``key=value`` words.

A detector is a dataclass and its fields are its hyper-parameters, so everything that turns text
into parameters lives here once: unknown names get "did you mean", values get the field's type.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from axonad.errors import ConfigError, FileError, suggest

T = TypeVar("T")


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """Return ``cls(**values)`` after refusing names that are not fields of ``cls``.

    Lists, which is how JSON and TOML write them, become tuples.
    """
    check_names(cls, values)
    return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def check_names(cls: type, names: Iterable[str]) -> None:
    """Refuse the first name that is not a field of the dataclass ``cls``."""
    known = [field.name for field in dataclasses.fields(cls)]
    for name in names:
        if name not in known:
            hint = suggest(name, known) or f"; known: {', '.join(known)}"
            raise ConfigError(f"{cls.__name__} has no parameter {name!r}{hint}")


def parse_assignments(cls: type, words: Iterable[str]) -> dict[str, Any]:
    """Turn ``["window=50", "align=end"]`` into typed parameters of the dataclass ``cls``."""
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals:
            raise ConfigError(f"expected NAME=VALUE, got {word!r}")
        check_names(cls, [name])
        values[name] = _parse(name, text.strip(), hints[name])
    return values


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the table in a TOML file."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise FileError(f"{path} does not exist") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def check_int(name: str, value: object, *, low: int | None = None, high: int | None = None) -> None:
    """Refuse a parameter that is not an integer within [low, high]."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ConfigError(f"{name} must be an integer, got {value!r}")
    _check_range(name, int(value), low, high)


def check_ints(name: str, value: object) -> None:
    """Refuse a parameter that is not a tuple of positive integers."""
    if not isinstance(value, tuple) or not value:
        raise ConfigError(f"{name} must be a tuple of integers, got {value!r}")
    for item in value:
        check_int(name, item, low=1)


def check_float(
    name: str,
    value: object,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse a parameter that is not a finite number within [low, high] or (above, below)."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ConfigError(f"{name} must be a number, got {value!r}")
    value = float(value)
    _check_range(name, value, low, high)
    if above is not None and value <= above:
        raise ConfigError(f"{name} must be above {above}, got {value!r}")
    if below is not None and value >= below:
        raise ConfigError(f"{name} must be below {below}, got {value!r}")


def check_bool(name: str, value: object) -> None:
    """Refuse a parameter that is not True or False."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {value!r}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse a parameter that is not one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        hint = suggest(value, choices) if isinstance(value, str) else ""
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ConfigError(f"{name} must be one of {allowed}, got {value!r}{hint}")


def outlier_tags() -> Any:
    """Return what scikit-learn wants to know of an outlier detector."""
    from sklearn.base import BaseEstimator, OutlierMixin

    class _Tags(OutlierMixin, BaseEstimator):  # type: ignore[misc]
        pass

    return _Tags().__sklearn_tags__()


def _check_range(name: str, value: float, low: float | None, high: float | None) -> None:
    if low is not None and value < low:
        raise ConfigError(f"{name} must be at least {low}, got {value!r}")
    if high is not None and value > high:
        raise ConfigError(f"{name} must be at most {high}, got {value!r}")


def _parse(name: str, text: str, hint: Any) -> Any:
    """Read one value of the annotated type from text."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if text.lower() in {"none", ""} and types.NoneType in options:
        return None
    for option in options:
        try:
            if option is bool:
                return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
            if option in (int, float, str):
                return option(text)
            if typing.get_origin(option) is tuple:
                item = typing.get_args(option)[0]
                return tuple(item(part) for part in text.strip("()[] ").split(",") if part.strip())
        except (KeyError, ValueError):
            continue
    names = {types.NoneType: "none", int: "an integer", float: "a number"}
    wanted = " or ".join(
        names.get(option, getattr(option, "__name__", str(option))) for option in options
    )
    raise ConfigError(f"{name} must be {wanted}, got {text!r}")
