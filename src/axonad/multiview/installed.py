"""Which views of MultiView can be used here: the network needs torch, which is optional."""

from __future__ import annotations

import warnings

from axonad.errors import DataWarning
from axonad.extras import command, is_installed

VIEWS = {
    "shape": "axonad.views.shape:ShapeMemory",
    "forecast": "axonad.views.forecast:Forecast",
    "relation": "axonad.views.relation:Relation",
    "network": "axonad.views.network:Network",
}
"""Classes by name, imported when used: without the network no torch is needed."""
WITHOUT_TORCH = ("shape", "forecast", "relation")


def usable_views() -> tuple[str, ...]:
    """Return all views or, with a note, those that need no torch where it is not installed.

    For commands that choose the detector for the user. ``MultiView()`` itself refuses to leave a
    view out: a default that depends on what is installed would change results silently.
    """
    if is_installed("torch"):
        return tuple(VIEWS)
    warnings.warn(
        "torch is not installed, so MultiView works without its network view; "
        f"for all four views: {command('torch')}",
        DataWarning,
        stacklevel=2,
    )
    return WITHOUT_TORCH
