"""scikit-learn, imported lazily, with a hint how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from axonad.errors import MissingDependencyError


def import_sklearn(part: str, *, user: str) -> Any:
    """Return the module ``sklearn.<part>`` for the detector named ``user``."""
    try:
        return import_module(f"sklearn.{part}")
    except ImportError:
        raise MissingDependencyError(
            f"{user} needs scikit-learn; install it with: pip install 'axonad[baselines]'"
        ) from None
