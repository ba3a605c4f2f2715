from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from axonad.bench.execute import execute
from axonad.bench.runner import pending
from axonad.bench.sources import SeriesRef
from axonad.errors import ConfigError, FileError, InputError
from axonad.paper.diagnostics import diagnose
from axonad.paper.diagnostics.finding import FILE, Findings, read_findings
from axonad.paper.diagnostics.measure import MEASURES
from axonad.paper.diagnostics.sample import FILE as SAMPLES
from axonad.paper.diagnostics.sample import Samples, samples_of
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


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with Findings(folder) as findings:
        list(diagnose.diagnose_jobs([drive(1), drive(2)], findings, device="cpu"))
    return folder


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


def test_samples_hold_what_figures_need(saved):
    found = read_findings(saved)
    keys = [finding.key for finding in found]
    samples = samples_of(saved, found)
    assert list(samples) == keys
    one = samples[keys[0]]
    assert set(one["anomalous"]["kind"]) == {"level_shift", "correlation_break"}
    assert len(one["normal"]["d_rec"]) == 500
    event = one["event"]
    steps = len(event["d_q"])
    assert np.shape(event["predicted"]) == np.shape(event["target"]) == (steps, 2)
    assert event["first"] < event["start"] < event["stop"]
    before = (saved / SAMPLES).read_bytes()
    Samples(saved).append("other", {**one, "seed": 9})
    assert (saved / SAMPLES).read_bytes() == before, "a series is saved once"


def test_another_seed_finds_the_sample_of_its_series(saved):
    first, second = read_findings(saved)
    other = replace(first, row=replace(first.row, key="another", seed=9))
    assert list(samples_of(saved, [other, second])) == ["another", second.key]
    assert list(samples_of(saved, [first, other])) == [first.key], "a series is drawn once"


@pytest.mark.parametrize(
    "text", ["garbage\n", "3\n", '{"a": 1}\n', "[1]\n", "\xff\xfe\n", "my notes"]
)
def test_samples_of_another_kind_are_refused_and_left_alone(tmp_path, text):
    (tmp_path / SAMPLES).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"samples.jsonl was not written by .* move or delete it"):
        samples_of(tmp_path, [])
    assert (tmp_path / SAMPLES).read_bytes() == text.encode("latin-1")


def test_an_incomplete_last_sample_is_ignored_and_removed_by_the_next(saved, tmp_path):
    whole = (saved / SAMPLES).read_bytes()
    (tmp_path / SAMPLES).write_bytes(whole[:-30])
    found = read_findings(saved)
    assert len(samples_of(tmp_path, found)) == 1
    assert (tmp_path / SAMPLES).read_bytes() == whole[:-30], "reading writes nothing"
    last = samples_of(saved, found)[found[1].key]
    Samples(tmp_path).append(last["key"], {k: v for k, v in last.items() if k != "key"})
    assert (tmp_path / SAMPLES).read_bytes() == whole


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


def test_only_axonad_can_be_diagnosed(tmp_path):
    jobs = [make_job(detector="RandomScore")]
    with pytest.raises(ConfigError, match="diagnostics need the detector AxonAD, got RandomScore"):
        next(diagnose.diagnose_jobs(jobs, Findings(tmp_path)))


def test_a_folder_without_findings(tmp_path, saved):
    with pytest.raises(FileError, match="run `axonad paper diagnostics` first"):
        read_findings(tmp_path)
    text = (saved / FILE).read_text().replace("causal", "fair")
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputError, match="row 1: row's protocol must be one of"):
        read_findings(tmp_path)


def test_computing_needs_no_plotting_and_no_command_line():
    code = (
        "import sys\n"
        "for name in ('sklearn', 'matplotlib', 'typer', 'rich', 'safetensors'):\n"
        "    sys.modules[name] = None\n"
        "from axonad.paper.diagnostics.diagnose import diagnose_jobs\n"
        "from axonad.bench.suite import read_suite\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
