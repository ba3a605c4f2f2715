"""The paper's own numbers, as its tables and figures print them.

Özer et al., 2026, arXiv 2603.12916: Table 3 and the figure on sensitivity.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

PAPER_SERIES = 20
"""Tuning series of TSB-AD behind the paper's ablations."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over series."""

    mean: float
    std: float


def paper_ablation() -> dict[str, dict[str, Spread]]:
    """Return Table 3: variant → metric → mean and deviation, in the paper's order.

    >>> paper_ablation()["Base"]["VUS-PR"]
    Spread(mean=0.658, std=0.301)
    """
    return {
        line["variant"]: {
            name: Spread(float(value), float(line[f"{name} std"]))
            for name, value in line.items()
            if name != "variant" and not name.endswith(" std")
        }
        for line in _read("ablation.csv")
    }


def paper_sensitivity() -> dict[tuple[str, int], dict[str, float]]:
    """Return the sensitivity figure: (parameter, value) → metric → mean.

    >>> paper_sensitivity()["horizon", 25]["AUC-PR"]
    0.517
    """
    return {
        (line.pop("parameter"), int(line.pop("value"))): {k: float(v) for k, v in line.items()}
        for line in _read("sensitivity.csv")
    }


def _read(name: str) -> list[dict[str, str]]:
    text = (files("axonad.report") / "paper" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
