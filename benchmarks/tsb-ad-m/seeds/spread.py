"""VUS-PR of AxonAD by seed: the mean over the evaluation series, and the spread over seeds.

python benchmarks/tsb-ad-m/seeds/spread.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from axonad.bench.results import read_rows
from axonad.report.seeds import common_runs, runs_by_seed, seed_means


def main() -> None:
    rows = read_rows(Path(__file__).parent)
    for protocol in ("parity", "causal"):
        kept = [row for row in rows if row.protocol == protocol and row.split == "eval"]
        runs = runs_by_seed(kept, metric="VUS-PR")
        means = seed_means(runs, common_runs([runs]))
        names = sorted(next(iter(runs.values())))
        spread = np.array([[run[name] for name in names] for run in runs.values()]).std(0, ddof=1)
        listed = ", ".join(f"{seed}: {mean:.3f}" for seed, mean in zip(runs, means, strict=True))
        print(f"{protocol}: {listed}; mean {means.mean():.3f} ± {means.std(ddof=1):.3f}")
        middle, most = np.median(spread), spread.max()
        print(f"  over seeds, one series: median ± {middle:.3f}, at most {most:.3f}")


if __name__ == "__main__":
    main()
