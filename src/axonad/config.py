"""Read and check hyper-parameters: from a mapping, a TOML file or ``name=value`` arguments.

A detector is a dataclass whose fields are its hyper-parameters. An unknown name is answered with
the closest known one, and text is converted to the type of the field.
"""

from __future__ import annotations

import dataclasses
import math
import operator
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
    """Return ``cls(**values)``; lists, as JSON and TOML have them, become tuples."""
    check_names(cls, values)
    return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def check_names(cls: type, names: Iterable[str]) -> None:
    """Raise ``ConfigError`` for a name that is not a field of the dataclass ``cls``."""
    known = [field.name for field in dataclasses.fields(cls)]
    for name in names:
        if name not in known:
            hint = suggest(name, known) or f"; choose one of {', '.join(known)}"
            raise ConfigError(f"{cls.__name__} has no parameter {name!r}{hint}")


def parse_assignments(cls: type, assignments: Iterable[str]) -> dict[str, Any]:
    """Return ``["window=50", "align=end"]`` as typed parameters of the dataclass ``cls``."""
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ConfigError(f"expected NAME=VALUE, got {text!r}; write for example window=50")
        check_names(cls, [name])
        values[name] = _parse(name, value, hints[name])
    return values


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; expected a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def check_int(name: str, value: object, *, low: int | None = None, high: int | None = None) -> None:
    """Raise ``ConfigError`` unless the value is an integer within [low, high]."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ConfigError(f"{name} must be an integer, got {value!r}")
    check_float(name, value, low=low, high=high)


def check_ints(name: str, value: object) -> None:
    """Raise ``ConfigError`` unless the value is a non-empty tuple of positive integers."""
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
    """Raise ``ConfigError`` unless the value is a finite number within the bounds."""
    if isinstance(value, bool) or not isinstance(value, Real) or not _is_finite(value):
        raise ConfigError(f"{name} must be a number, got {value!r:.100}")
    number = int(value) if isinstance(value, Integral) else float(value)
    for words, bound, is_outside in (
        ("at least", low, operator.lt),
        ("at most", high, operator.gt),
        ("above", above, operator.le),
        ("below", below, operator.ge),
    ):
        if bound is not None and is_outside(number, bound):
            raise ConfigError(f"{name} must be {words} {bound}, got {number!r}")


def _is_finite(value: Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


def check_bool(name: str, value: object) -> None:
    """Raise ``ConfigError`` unless the value is True or False."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, got {value!r}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``ConfigError`` unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        hint = suggest(value, choices) if isinstance(value, str) else ""
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ConfigError(f"{name} must be one of {allowed}, got {value!r}{hint}")


def outlier_tags() -> Any:
    """Return the scikit-learn estimator tags of an outlier detector."""
    from sklearn.base import BaseEstimator, OutlierMixin

    class _Tags(OutlierMixin, BaseEstimator):  # type: ignore[misc]
        pass

    return _Tags().__sklearn_tags__()


def _parse(name: str, text: str, hint: Any) -> Any:
    """Convert text to the annotated type."""
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
                parts = (part.strip() for part in text.strip("()[] ").split(","))
                return tuple(item(part) for part in parts if part)
        except (KeyError, ValueError):
            continue  # try the next type of a union
    words = {types.NoneType: "none", int: "an integer", float: "a number", bool: "true or false"}
    wanted = " or ".join(words.get(option, "values separated by commas") for option in options)
    raise ConfigError(f"{name} must be {wanted}, got {text!r}")
