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
    "AutoEncoder": NEURAL | {"window": 1, "hidden": (8, 2)},
    "LSTMAD": NEURAL | {"width": 4, "layers": 1},
    "USAD": NEURAL,
    "TranAD": NEURAL,
    "OmniAnomaly": NEURAL | {"width": 8},
    "Donut": NEURAL | {"width": 16, "samples": 8},
    "FITS": NEURAL | {"window": 24, "cutoff": 3},
    "M2N2": NEURAL | {"latent": 8},
}
