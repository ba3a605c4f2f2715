"""Packages that only some formats need, imported when a file of theirs is read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from axonad.errors import MissingDependencyError


def need(module: str, *, extra: str, what: str) -> Any:
    """Return a module; say how to install it if it is missing."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        if not str(error.name or "").startswith(package):
            raise
        raise MissingDependencyError(
            f"{what} need {package}; install it with: pip install 'axonad[{extra}]'"
        ) from None
