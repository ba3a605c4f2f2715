"""Measure what a detector gains by scoring its own training rows.

    python benchmarks/tsb-ad-m/prefix.py TSB-AD-M-dev.zip WindowStatistics
    python benchmarks/tsb-ad-m/prefix.py TSB-AD-M-dev.zip ShapeMemory SMAP,MSL,SMD,Daphnet

TSB-AD evaluates the whole series, including the training prefix. A nearest-neighbour detector finds
every training window among its reference windows, at distance 0. The script prints the mean VUS-PR
over the evaluation series (with a third argument: those whose names contain one of its words),
fitted on the prefix: as scored by the detector; with held-out scores on the prefix
(``decision_scores_``); and without the prefix.
"""

from __future__ import annotations

import sys

import numpy as np

from axonad.bench import sources
from axonad.bench.suite import read_suite
from axonad.metrics import evaluate


def main(data: str, name: str, words: str = "") -> None:
    jobs = read_suite("tsb-ad-m", data=data).jobs(
        detectors=[name], series=words.split(",") if words else (), protocols=["causal"],
        split="eval",
    )  # fmt: skip
    found = []
    for job in (job for job in jobs if job.label == name):
        series = sources.load(job.series)
        detector = job.make_detector(device="cpu")
        steps, labels = series.train_steps, series.labels
        detector.fit(series.values[:steps])
        scores = detector.decision_function(series.values)
        held_out = scores.copy()
        held_out[:steps] = detector.decision_scores_
        whole = evaluate(scores, labels, window=job.protocol.window, channel=series.values[:, 0])
        window = int(whole.window)
        found.append([
            whole["VUS-PR"],
            evaluate(held_out, labels, window=window)["VUS-PR"],
            evaluate(scores[steps:], labels[steps:], window=window)["VUS-PR"],
        ])  # fmt: skip
        print(f"{job.label}  {job.series.name}  {' '.join(f'{v:.3f}' for v in found[-1])}")
    print(f"{len(found)} series: {' '.join(f'{v:.3f}' for v in np.mean(found, axis=0))}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
