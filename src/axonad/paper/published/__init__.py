"""The numbers that the paper's tables and figures print.

Özer et al., 2026, arXiv 2603.12916.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

PAPER_SERIES = 20
"""Number of TSB-AD tuning series in the paper's ablations."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over series."""

    mean: float
    std: float


@dataclass(frozen=True, kw_only=True)
class PaperPair:
    """A baseline against AxonAD on 180 series: differences are baseline minus AxonAD."""

    win_rate: float
    mean: float
    median: float
    p: float
    low: float
    high: float


class Times(NamedTuple):
    """Seconds to fit and to score a stream, and milliseconds per scored window.

    The paper counts all of IForest's time as scoring; its fit time is 0.
    """

    fit_seconds: float
    score_seconds: float
    milliseconds: float

    @property
    def total_seconds(self) -> float:
        """Seconds to fit and score."""
        return self.fit_seconds + self.score_seconds


def paper_scores(table: str) -> dict[str, dict[str, Spread]]:
    """Return Table S2 (``"telemetry"``) or S1 (``"tsb_ad_m"``): detector → metric → spread.

    >>> paper_scores("tsb_ad_m")["AxonAD"]["VUS-PR"]
    Spread(mean=0.493, std=0.325)
    """
    return _spreads(f"{table}.csv", "detector")


def paper_pairs() -> dict[tuple[str, str], PaperPair]:
    """Return Tables S3 and S4: (detector, metric) → comparison with AxonAD.

    >>> paper_pairs()["USAD", "AUC-PR"].win_rate
    0.294
    """
    return {
        (line.pop("detector"), line.pop("metric")): PaperPair(
            **{name.replace(" ", "_"): float(value) for name, value in line.items()}
        )
        for line in _read("pairwise.csv")
    }


def paper_runtime() -> dict[str, Times]:
    """Return the runtime figure: detector → times, on an Apple M3 Max.

    >>> paper_runtime()["TranAD"].score_seconds
    2.23
    """
    return {
        line.pop("detector"): Times(**{name: float(value or 0) for name, value in line.items()})
        for line in _read("runtime.csv")
    }


def paper_ablation() -> dict[str, dict[str, Spread]]:
    """Return Table 3: variant → metric → spread, in the paper's order.

    >>> paper_ablation()["Base"]["VUS-PR"]
    Spread(mean=0.658, std=0.301)
    """
    return _spreads("ablation.csv", "variant")


def paper_sensitivity() -> dict[tuple[str, int], dict[str, float]]:
    """Return the sensitivity figure: (parameter, value) → metric → mean.

    >>> paper_sensitivity()["horizon", 25]["AUC-PR"]
    0.517
    """
    return {
        (line.pop("parameter"), int(line.pop("value"))): {k: float(v) for k, v in line.items()}
        for line in _read("sensitivity.csv")
    }


def paper_setting() -> dict[str, float]:
    """Return the setting the authors chose from their grid (``TSB_AD/HP_list.py`` of their code).

    >>> paper_setting()["tail"]
    10
    """
    return {"window": 100, "d_model": 128, "heads": 8, "lr": 5e-4, "tail": 10, "horizon": 1}


def paper_diagnostics() -> dict[str, float]:
    """Return the numbers of the paragraph on diagnostics; counts as shares of 20 series.

    >>> paper_diagnostics()["kl spearman median"]
    0.677
    """
    return {line["name"]: float(line["value"]) for line in _read("diagnostics.csv")}


def paper_transfer() -> dict[str, float]:
    """Return the percentiles of the paper's stream in its label-free transfer check."""
    return {"mahalanobis": 45.0, "neighbour": 55.0}


def _spreads(file: str, key: str) -> dict[str, dict[str, Spread]]:
    return {
        line[key]: {
            name: Spread(float(value), float(line[f"{name} std"]))
            for name, value in line.items()
            if name != key and not name.endswith(" std")
        }
        for line in _read(file)
    }


def _read(file: str) -> list[dict[str, str]]:
    text = (files("axonad.paper") / "published" / file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
