"""From a job to a row: what is fitted, what is saved, what a failure looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axonad.bench.execute import Setting, execute
from axonad.bench.job import Protocol
from axonad.bench.sources import SeriesRef, load
from axonad.metrics import evaluate
from tests.bench.jobs import make_job, steady, write_series


@pytest.fixture(scope="module")
def row():
    return execute(make_job())


def test_the_row_holds_what_evaluate_says(row):
    job = make_job()
    series = load(job.series)
    detector = job.make_detector().fit(series.values[:1000])
    scores = detector.decision_function(series.values[1000:])
    expected = evaluate(scores, series.labels[1000:], window=20)
    assert row.metrics == {k: round(v, 6) for k, v in expected.items()}
    assert (row.status, row.vus_window, row.scored_from, row.train_steps) == ("ok", 20, 1000, 1000)
    assert (row.scaling, row.align, row.protocol) == ("soft", "center", "causal")
    assert row.params["window"] == 8
    assert row.fit_seconds > 0
    assert row.memory_mb is not None


def test_a_job_repeated_is_the_same_row(row):
    assert steady([execute(make_job())]) == steady([row])


def test_a_failure_is_a_row_with_its_reason():
    long = make_job(params=make_job().params | {"window": 4000})
    row = execute(long)
    assert (row.status, dict(row.metrics)) == ("failed", {})
    assert row.reason.startswith("InputError: window must be at most the series length 1000")
    missing = make_job(series=SeriesRef(source="files", name="002_MSL_id_1_S_tr_2_1st_3.csv",
                                        dataset="MSL", location="nowhere"))  # fmt: skip
    assert "FileError" in execute(missing).reason


def test_running_out_of_memory_is_called_that(monkeypatch):
    def hungry(self, X):
        raise MemoryError("Unable to allocate 3 TiB")

    monkeypatch.setattr("axonad.axon.AxonAD.fit", hungry)
    assert execute(make_job()).status == "memory"


def test_saved_scores_are_evaluated_again_without_a_fit(tmp_path, monkeypatch):
    setting = Setting(scores=str(tmp_path))
    job = make_job()
    first = execute(job, setting)

    def no_fit(self, X):
        raise RuntimeError("fitted again")

    monkeypatch.setattr("axonad.detector.Detector.fit", no_fit)
    assert steady([execute(job, setting)]) == steady([first])
    wider = replace(job, protocol=Protocol(name="causal", window=40))
    again = execute(wider, setting)
    assert (again.status, again.vus_window) == ("ok", 40)
    assert again.fit_seconds == first.fit_seconds, "the cost is that of the fit there was"
    assert again.metrics["AUC-PR"] == first.metrics["AUC-PR"]
    assert again.metrics["VUS-PR"] != first.metrics["VUS-PR"]
    (tmp_path / job.fit_key / "scores.safetensors").write_bytes(b"damaged")
    assert "fitted again" in execute(job, setting).reason


def test_saved_scores_of_other_content_are_not_used(tmp_path):
    data = write_series(tmp_path)
    ref = SeriesRef(source="files", name=data.name, dataset="MSL", location=str(tmp_path))
    job = make_job(series=ref)
    setting = Setting(scores=str(tmp_path / "scores"))
    first = execute(job, setting)
    assert (first.status, first.steps, first.channels) == ("ok", 400, 2)
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:100], "9,9,0", *lines[101:]]) + "\n")
    second = execute(job, setting)
    assert second.fingerprint != first.fingerprint
    assert second.metrics != first.metrics
