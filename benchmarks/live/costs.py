"""The measured costs in ``costs.csv``, with where and by which command they were measured."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

FILE = Path(__file__).with_name("costs.csv")


def read_costs() -> SimpleNamespace:
    """Return the costs by name."""
    with FILE.open(newline="") as file:
        return SimpleNamespace(**{row["name"]: float(row["value"]) for row in csv.DictReader(file)})


def read_sources() -> list[dict[str, str]]:
    """Return the rows of the file: name, value, unit, date, machine, command."""
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))
