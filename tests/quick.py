"""Parameters that make a registered detector quick enough for the shared checks."""

from __future__ import annotations

from typing import Any

from tests.conftest import SMALL

NEURAL: dict[str, Any] = {
    "window": 12, "epochs": 2, "batch_size": 64, "device": "cpu", "verbose": False,
}  # fmt: skip
QUICK: dict[str, dict[str, Any]] = {
    "AxonAD": SMALL,
    "CNN": NEURAL | {"widths": (4,)},
}
