"""Write small models and stream states with the installed version, for later versions to load.

``python tests/saved_models/write.py FOLDER`` writes a folder for each model below and
``expected.json`` with thresholds and scores; then, for models that score streams, a state
(``NAME.state``) and the scores that follow it. Models that are there already are kept. Those
of versions before 0.3 were written by its own, older copy of this file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import axonad

NAMES = ["speed", "yaw_rate", "torque"]
TINY = {"window": 8, "d_model": 8, "heads": 2, "epochs": 2, "device": "cpu", "verbose": False}
MODELS: dict[str, dict[str, Any]] = {
    "AxonAD": TINY | {"tail": 2, "batch_size": 64},
    "CrossChannelRidge": {},
    "PCA": {},
    "USAD": {"window": 8, "epochs": 2, "device": "cpu", "verbose": False},
    "ControlChart": {},
    "ShapeMemory": {"lengths": (6,)},
    "Forecast": {"lags": 4, "smooth": 4, "alarm_budget": "5 per 100 steps"},
    "Relation": {"lags": 2, "smooth": 4, "context": ("torque",)},
    "MultiView": TINY | {"views": ("relation", "network")},
}
STREAMED = ("CrossChannelRidge", "PCA", "AxonAD", "ControlChart", "Forecast", "MultiView")
BEFORE, AFTER = 60, 20  # rows before the state is saved, and scored after it


def waves(rows: int, seed: int = 0) -> np.ndarray:
    """Return channels that move together, with a little noise."""
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / 7 + np.arange(3)[None, :]
    return np.sin(phase) + 0.05 * rng.normal(size=(rows, 3))


def write_models(folder: Path) -> dict[str, Any]:
    """Write the models that this version knows; return their thresholds and scores."""
    expected: dict[str, Any] = {}
    for name, params in MODELS.items():
        try:
            detector = axonad.make_detector(name, **params)
        except axonad.AxonADError as error:
            print(f"left out, {name}: {error!s:.60}")  # noqa: T201
            continue
        detector.fit(pd.DataFrame(waves(300), columns=NAMES))
        detector.save(folder / name)
        scores = detector.decision_function(waves(60, seed=1))
        expected[name] = {"threshold": detector.threshold_, "scores": scores[:20].tolist()}
    return expected


def write_states(folder: Path, expected: dict[str, Any]) -> None:
    """Write the states of streams; add the scores that follow them."""
    for name in sorted(set(STREAMED) & set(expected)):
        session = axonad.Session(axonad.load(folder / name))
        live = waves(BEFORE + AFTER, seed=2)
        session.push(live[:BEFORE])
        (folder / f"{name}.state").write_bytes(session.state())
        expected[name]["live"] = session.push(live[BEFORE:]).scores.tolist()


def write(folder: Path) -> None:
    """Write models, states and what they are expected to give."""
    path = folder / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else write_models(folder)
    write_states(folder, expected)
    path.write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
