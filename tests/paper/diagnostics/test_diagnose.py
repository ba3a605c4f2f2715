from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from axonad.bench.execute import execute
from axonad.bench.runner import pending
from axonad.errors import ConfigError, InputError
from axonad.paper.diagnostics import diagnose
from axonad.paper.diagnostics.as_run import AS_RUN
from axonad.paper.diagnostics.finding import AsRunFindings, Findings, read_findings
from axonad.paper.diagnostics.measure import MEASURES
from axonad.paper.diagnostics.sample import samples_of
from tests.bench.jobs import make_job
from tests.paper.diagnostics.conftest import drive


def test_a_finding_is_the_row_of_the_job_and_measures(saved):
    first = read_findings(saved)[0]
    row = execute(drive(1))
    assert first.row.metrics == row.metrics
    assert first.row.fingerprint == row.fingerprint
    assert first.measures["VUS-PR sum"] == pytest.approx(row.metrics["VUS-PR"], abs=2e-3)
    assert first.measures["VUS-PR d_q"] == pytest.approx(row.parts["d_q"], abs=2e-3)
    assert set(first.measures) <= set(MEASURES)
    for name in ("query only", "reconstruction only", "both high"):
        assert 0 <= first.measures[name] <= 1
    for name in ("device", "version", "protocol", "packages"):
        assert getattr(first.row, name)


def test_finished_jobs_are_not_run_again(saved, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("fitted again")

    monkeypatch.setattr(diagnose, "fit_jointly", never)
    jobs = [drive(1), drive(2)]
    with Findings(saved) as findings:
        todo = pending(jobs, [finding.row for finding in findings.rows])
        assert not list(diagnose.diagnose_jobs(todo, findings, device="cpu"))
    assert len(read_findings(saved)) == 2


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_failure_is_a_finding_with_its_reason_and_stops_nobody(tmp_path, monkeypatch, at_once):
    jobs = [drive(1), drive(2, window=3000), drive(3)]
    if at_once > 1:  # as on a GPU
        monkeypatch.setattr(diagnose, "SERIES_AT_ONCE", at_once)
        monkeypatch.setattr(diagnose, "resolve_device", lambda name: torch.device("cuda"))
    with Findings(tmp_path) as findings:
        list(diagnose.diagnose_jobs(jobs, findings, device="cpu"))
    made = {finding.row.seed: finding for finding in read_findings(tmp_path)}
    assert {seed: finding.row.status for seed, finding in made.items()} == {
        1: "ok", 2: "failed", 3: "ok",
    }  # fmt: skip
    assert "window must be at most" in made[2].row.reason
    assert not made[2].measures
    assert len(samples_of(tmp_path, [made[1], made[2], made[3]])) == 2


def test_a_finding_as_run_is_ours_with_more_measures(saved, tmp_path):
    with AsRunFindings(tmp_path) as findings:
        list(diagnose.diagnose_jobs([drive(1), drive(2, window=3000)], findings, device="cpu"))
    first, failed = AsRunFindings(tmp_path).read()
    ours = read_findings(saved)[0]
    assert {name: first.measures.get(name) for name in ours.measures} == ours.measures
    assert set(AS_RUN) <= set(first.measures)
    assert first.measures["as run windows"] == 4000 - 16 + 1
    assert first.measures["as run AP d_q"] == first.measures["probe AP own queries"]
    assert (failed.row.status, failed.measures) == ("failed", {})
    with pytest.raises(InputError, match="its columns differ"):
        read_findings(tmp_path)


def test_only_axonad_can_be_diagnosed(tmp_path):
    jobs = [make_job(detector="RandomScore")]
    with pytest.raises(ConfigError, match="diagnostics need the detector AxonAD, got RandomScore"):
        next(diagnose.diagnose_jobs(jobs, Findings(tmp_path)))


def test_computing_needs_no_plotting_and_no_command_line():
    code = (
        "import sys\n"
        "for name in ('sklearn', 'matplotlib', 'typer', 'rich', 'safetensors'):\n"
        "    sys.modules[name] = None\n"
        "from axonad.paper.diagnostics.diagnose import diagnose_jobs\n"
        "from axonad.bench.suite import read_suite\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
