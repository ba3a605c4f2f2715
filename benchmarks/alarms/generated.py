"""Events of the four generated drives, from committed rows; prints Markdown.

python benchmarks/alarms/generated.py benchmarks/telemetry/rows.csv
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

LABELS = ("MultiView, end", "MultiView", "AxonAD")


def main(path: Path) -> None:
    """Print a line for each drive and detector."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["protocol"] == "causal"]
    print("| detector | drive | faults | found | false events | by threshold: found | false |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for label in LABELS:
        for row in sorted((r for r in rows if r["label"] == label), key=lambda r: r["series"]):
            alarms = json.loads(row["alarms"])
            names = ("faults", "event_found", "event_false", "rule_found", "rule_false")
            numbers = " | ".join(str(alarms[name]) for name in names)
            print(f"| {label} | {row['series']} | {numbers} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
