"""Small jobs, and the findings of two of them."""

from __future__ import annotations

import pytest

from axonad.bench.sources import SeriesRef
from axonad.paper.diagnostics import diagnose
from axonad.paper.diagnostics.finding import Findings
from axonad.registry import make_detector
from tests.bench.jobs import make_job

TINY = {"window": 16, "d_model": 8, "heads": 2, "tail": 4, "epochs": 1, "device": "cpu"}


def drive(seed: int, **params):
    ref = SeriesRef(
        source="telemetry", name=f"telemetry-{seed}", dataset="telemetry", seed=seed,
        options={"steps": 4000},
    )  # fmt: skip
    full = make_detector("AxonAD", **TINY, seed=seed).get_params() | params
    return make_job(series=ref, params=full, seed=seed)


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A folder with findings and samples of two series. Do not change it."""
    folder = tmp_path_factory.mktemp("saved")
    with Findings(folder) as findings:
        list(diagnose.diagnose_jobs([drive(1), drive(2)], findings, device="cpu"))
    return folder
