"""The authors' AxonAD against every method of TSB-AD's leaderboard, by published VUS-PR per series.

python benchmarks/tsb-ad-m/published_pairs.py published_vus_pr.csv
"""

from __future__ import annotations

import sys

import polars as pl
from scipy.stats import wilcoxon

from axonad.report.statistics import holm

OURS = "AxonAD (authors)"
ABOUT_THE_SERIES = ("file", "ts_len", "num_anomaly", "anomaly", "avg_anomaly", "point_", "seq_")


def main(path: str) -> None:
    table = pl.read_csv(path)
    ours = table[OURS].to_numpy()
    names = [c for c in table.columns if c != OURS and not c.startswith(ABOUT_THE_SERIES)]
    plain = [float(wilcoxon(table[name].to_numpy(), ours).pvalue) for name in names]
    for name, p, corrected in zip(names, plain, holm(plain), strict=True):
        print(f"{name:20} {table[name].mean():.3f}  p {p:.2g}  Holm {corrected:.2g}")
    counts = [sum(p < 0.05 for p in found) for found in (plain, holm(plain))]
    print(f"{OURS} {ours.mean():.3f}: {len(ours)} series, {len(names)} methods, significant: "
          f"{counts[0]} plain, {counts[1]} after Holm")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
