"""Parity with the authors' published results on real series. Minutes long, so marked slow."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from axonad import AxonAD, evaluate
from axonad.data.tsb_ad import list_series, read_series

SHORT = ("002_MSL", "008_MSL", "154_SMAP")


@pytest.mark.slow
def test_published_vus_pr_is_reproduced(shared_data):
    published = shared_data.parent / "paper/tables/published_vus_pr_per_series_dev.csv"
    if not published.exists():
        pytest.skip(f"no published results: {published} does not exist")
    with published.open() as file:
        theirs = {row["file"]: float(row["AxonAD (authors)"]) for row in csv.DictReader(file)}
    archive = shared_data / "TSB-AD-M-dev.zip"
    names = [name for name in list_series(archive) if name.file.startswith(SHORT)]
    off = []
    for name, series in zip(names, read_series(archive, names), strict=True):
        detector = AxonAD.paper(seed=2024, verbose=False).fit(series.values[: name.train_rows])
        scores = detector.decision_function(series.values)
        ours = evaluate(scores, series.labels, channel=series.values[:, 0], metrics=["VUS-PR"])
        off.append(abs(ours["VUS-PR"] - theirs[name.file]))
    assert np.mean(off) < 0.1
