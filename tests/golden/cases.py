"""The pairs of model and series of the goldens, and how each series is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """A model, a series, and the options under which a user would score it.

    ``hold`` fills missing values for so many rows (``--fill hold --max-hold``); None refuses them
    in files. ``units`` gives the series other units than the model has, ``allow_missing`` scores
    without the channels that the series lacks.
    """

    model: str
    series: str
    hold: int | None = None
    units: tuple[str, ...] | None = None
    allow_missing: bool = False
    refused: bool = False

    @property
    def explained(self) -> bool:
        """Whether events of the model have an explanation."""
        return not self.model.startswith("pca")

    @property
    def benched(self) -> bool:
        """Whether a benchmark fits the model's detector anew: those that do so in a moment."""
        trained_quickly = self.model in ("relation-times", "forecast-budget", "pca", "pca-budget")
        return trained_quickly and self.series in LABELLED

    @property
    def killed(self) -> int:
        """The row before which the stream is killed."""
        return KILLED.get(self.series, 10)

    @property
    def name(self) -> str:
        what = "-allowed" if self.allow_missing else "-units" if self.units else ""
        return f"{self.model}--{self.series}{what}"

    @property
    def model_path(self) -> Path:
        return HERE / "models" / self.model

    @property
    def path(self) -> Path:
        return next(HERE.glob(f"series/{self.series}.*"))


UNITS = ("m/s", "deg", "deg/s", "m/s^2", "Nm", "°C")
KMH = ("km/h", *UNITS[1:])

KILLED = {
    "faults": 225, "plain": 225, "flicker": 235, "storm": 505, "lasting": 310, "sensors": 440,
    "shifted": 3210, "split": 410, "recording": 225, "fewer": 225,
    "brief": 170, "bare": 170, "torn": 440, "parted": 170, "short": 22, "empty": 250,
    "backwards": 150,
}  # fmt: skip
"""Rows within a fault."""

FAULTS = ((200, 240), (520, 570), (820, 830), (1100, 1160), (1420, 1460), (1750, 1790))
LABELLED = {"faults": (0.09, FAULTS), "plain": (0.09, FAULTS)}
"""Series with labels: the share that a benchmark trains on, and where the faults are."""

PAIRS = (
    Pair("relation-all", "faults"),
    Pair("relation-all", "flicker"),
    Pair("relation-all", "storm"),
    Pair("relation-all", "lasting"),
    Pair("relation-all", "sensors", hold=10),
    Pair("relation-all", "shifted"),
    Pair("relation-all", "split"),
    Pair("relation-all", "faults", units=KMH, refused=True),
    Pair("relation-all", "fewer", refused=True),
    Pair("relation-all", "fewer", allow_missing=True),
    Pair("relation-all", "extra", refused=True),
    Pair("relation-all", "short", refused=True),
    Pair("relation-all", "empty", refused=True),
    Pair("relation-all", "backwards"),
    Pair("relation-times", "faults"),
    Pair("relation-times", "split"),
    Pair("relation-aged", "recording"),
    Pair("forecast-budget", "faults"),
    Pair("forecast-budget", "flicker"),
    Pair("forecast-budget", "lasting"),
    Pair("forecast-slow", "flicker"),
    Pair("forecast-slow", "sensors", hold=3),
    Pair("light-all", "brief"),
    Pair("light-all", "torn", hold=10),
    Pair("light", "bare"),
    Pair("full-all", "brief"),
    Pair("full", "parted"),
    Pair("axonad", "faults"),
    Pair("axonad-budget", "flicker"),
    Pair("pca", "plain"),
    Pair("pca-budget", "plain"),
    Pair("pca-budget", "shifted"),
    Pair("pca-budget", "torn", hold=10),
)
