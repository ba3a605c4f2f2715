"""Made-up rows for the tests of statistics, tables and plots."""

from __future__ import annotations

import numpy as np

from axonad.bench.row import METRIC_NAMES, Row


def make_row(label="A", series="s0", value=0.5, *, dataset="D", seed=0, protocol="parity", **more):
    """Return an ok row whose metrics all have one value, or a failed one for value None."""
    ok = value is not None
    fields = {
        "key": f"{label}/{protocol}/{dataset}/{series}/{seed}", "suite": "made-up",
        "dataset": dataset, "series": series, "split": "eval", "detector": label.lower(),
        "label": label, "seed": seed, "protocol": protocol, "trained_on": "prefix",
        "version": "0.0", "status": "ok" if ok else "failed", "reason": "" if ok else "broke",
        "steps": 1000, "window_rule": "tsb-ad-2026", "device": "cpu", "threads": 1,
    }  # fmt: skip
    if ok:
        fields |= {
            "metrics": dict.fromkeys(METRIC_NAMES, value), "fit_seconds": 2.0,
            "score_seconds": 0.5, "memory_mb": 100.0, "vus_window": 10, "fingerprint": "f",
        }  # fmt: skip
    return Row(**(fields | more))


def make_rows(table, *, datasets=None, **more):
    """Return rows of ``{label: [value per series]}``; None is a failed run."""
    return [
        make_row(label, f"s{i}", value, dataset=datasets[i] if datasets else "D", **more)
        for label, values in table.items()
        for i, value in enumerate(values)
    ]


def random_rows(detectors, series=40, *, seed=0, datasets=5):
    """Return rows of detectors of different strength; a few runs failed."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=series)
    rows = []
    for d in range(detectors):
        strength = 1.2 - 2.4 * d / max(1, detectors - 1)
        for i in range(series):
            x = 1 / (1 + np.exp(-(ease[i] + strength + 0.8 * rng.normal())))
            value = None if d and rng.random() < 0.01 else float(x)
            cost = {} if value is None else {
                "fit_seconds": float(10 ** rng.normal(d % 5 - 1, 0.2)),
                "score_seconds": float(10 ** rng.normal(d % 3 - 2, 0.2)),
            }  # fmt: skip
            name = "AxonAD" if d == 0 else f"Detector {d:02d}"
            rows.append(make_row(name, f"s{i:03d}", value, dataset=f"Set{i % datasets}", **cost))
    return rows
