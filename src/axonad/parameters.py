"""Parameters as scikit-learn expects them, derived from the fields of a dataclass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from axonad.config import check_names


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters:
    """Base of a keyword-only dataclass whose fields are parameters, checked when set."""

    def __post_init__(self) -> None:
        self._check_params()

    def _check_params(self) -> None:
        """Raise ConfigError on invalid parameters; subclasses add their own checks."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name (``deep`` is scikit-learn's and changes nothing here)."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; if one is invalid, none is changed."""
        check_names(type(self), params)
        before = {name: getattr(self, name) for name in params}
        try:
            for name, value in params.items():
                setattr(self, name, value)
            self._check_params()
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def __repr__(self) -> str:
        changed = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"
