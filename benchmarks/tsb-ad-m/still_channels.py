"""VUS-PR with the present scaling of still channels, and with that of 0.1.0, from the same weights.

    python benchmarks/tsb-ad-m/still_channels.py TSB-AD-M.zip

Only series in which a channel that did not move in training moves later can differ.
"""

from __future__ import annotations

import sys

import numpy as np

import axonad
from axonad.data.scaling import Scaler
from axonad.data.tsb_ad import list_series, read_series

NUMBERS = (2, 8, 60, 62, 64, 74, 76, 78, 148, 164, 170)


def old_units(train: np.ndarray, new: Scaler) -> np.ndarray:
    """Return the units of 0.1.0: a millionth for constant channels, the spread for all others."""
    low, high = train.min(axis=0), train.max(axis=0)
    magnitude = np.maximum(np.abs(low), np.abs(high))
    spread = np.maximum(np.maximum(train.std(axis=0), 0.1 * (high - low)), 1e-12 * magnitude)
    still = np.where(high > low, spread, 1e-6 * np.maximum(magnitude, 1))
    return np.where(new.still, still, new.unit)


def main(source: str) -> None:
    names = [name for name in list_series(source) if name.number in NUMBERS]
    for name, series in zip(names, read_series(source, names), strict=True):
        train = series.values[: name.train_rows]
        detector = axonad.AxonAD(epochs=4, verbose=False, device="cpu").fit(train)
        new = detector._scaler
        found = []
        for unit in (old_units(train, new), new.unit):
            detector._scaler = Scaler("soft", new.center, unit)
            scores = detector.decision_function(series.values)
            found.append(axonad.evaluate(scores, series.labels, metrics=["VUS-PR"])["VUS-PR"])
        print(
            f"{name.number:03} 0.1.0 {found[0]:.4f} now {found[1]:.4f} {found[1] - found[0]:+.4f}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
