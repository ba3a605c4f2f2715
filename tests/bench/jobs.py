"""Small jobs and rows for the tests of the bench."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import psutil

from axonad.bench.job import Job, Protocol
from axonad.bench.row import METRIC_NAMES, Row
from axonad.bench.sources import SeriesRef
from axonad.registry import make_detector

TINY = {"window": 8, "d_model": 8, "heads": 1, "tail": 2, "epochs": 1}
SUITE = """
    name = "little"
    seeds = [1, 2]

    [data]
    source = "telemetry"
    steps = 2000

    [protocols.causal]
    window = 20

    [[detectors]]
    name = "AxonAD"
    params = { window = 8, d_model = 8, heads = 1, tail = 2, epochs = 1 }
"""


def make_job(**changes):
    params = make_detector("AxonAD", **TINY, seed=1).get_params()
    series = SeriesRef(
        source="telemetry", name="telemetry-1", dataset="telemetry", seed=1, options={"steps": 2000}
    )
    job = Job(
        suite="little", series=series, detector="AxonAD", label="AxonAD", params=params, seed=1,
        protocol=Protocol(name="causal", window=20),
    )  # fmt: skip
    return replace(job, **changes)


LONG = make_job(params=make_job().params | {"epochs": 100_000, "validation": 0.0})
"""A job that does not finish within any test."""


def worker_processes():
    """Return the worker processes of this process, those of a local Ray cluster included."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "axonad.bench.engines.worker" in str(child.cmdline())
    ]


def make_row(**changes):
    values = {
        "key": "0123456789abcdef", "suite": "little", "dataset": "telemetry",
        "series": "telemetry-1", "fingerprint": "ab", "detector": "AxonAD", "label": "AxonAD",
        "params": {"window": 8, "dilations": [1, 2]}, "seed": 1, "protocol": "causal",
        "trained_on": "prefix", "window_rule": "given", "vus_window": 20, "status": "ok",
        "metrics": dict.fromkeys(METRIC_NAMES, 0.25), "parts": {"d_rec": 1 / 3},
        "kinds": {"drift": {"VUS-PR": 0.5, "events": 2, "found": 1}}, "fit_seconds": 0.1,
        "version": "0.1.0",
    }  # fmt: skip
    return Row(**{**values, **changes})


def steady(rows):
    """Return by job the columns that are equal in two runs of the same jobs on one machine."""
    volatile = (
        "fit_seconds", "score_seconds", "memory_mb", "device_memory_mb", "finished", "commit",
    )  # fmt: skip
    return {
        row.key: {k: v for k, v in row.to_record().items() if k not in volatile} for row in rows
    }


def write_suite(folder, text=SUITE):
    path = folder / "suite.toml"
    path.write_text(textwrap.dedent(text))
    return path


def write_series(folder, name="002_MSL_id_1_Sensor_tr_200_1st_250.csv", rows=400, labels=True):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(rows, 2))
    lines = ["a,b,Label" if labels else "a,b"]
    for i, (a, b) in enumerate(values):
        lines.append(f"{a},{b}" + (f",{int(250 <= i < 260)}" if labels else ""))
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name
