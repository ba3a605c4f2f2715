"""Parameters that make a registered detector quick enough for the shared checks."""

from __future__ import annotations

from typing import Any

from tests.conftest import SMALL

QUICK: dict[str, dict[str, Any]] = {
    "AxonAD": SMALL,
}
