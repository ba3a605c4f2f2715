"""Joint fits give the rows of separate fits, up to the order of random draws."""

from __future__ import annotations

import pytest

from axonad.bench.detection import read
from axonad.bench.engines import together
from axonad.bench.execute import Setting, execute
from axonad.errors import ConfigError
from tests.bench.in_process import in_process
from tests.bench.jobs import make_job

__all__ = ["in_process"]


def test_rows_are_close_to_those_of_separate_fits(tmp_path, monkeypatch):
    jobs = [make_job(seed=seed) for seed in (1, 2)]
    bad = make_job(params=make_job().params | {"window": 4000})
    plain = make_job(detector="RandomScore", label="RandomScore", params={"seed": 1})
    fitted = []
    original = together.fit_many

    def spy(detectors, series):
        fitted.append(len(detectors))
        return original(detectors, series)

    monkeypatch.setattr(together, "fit_many", spy)
    setting = Setting(device="cpu", scores=str(tmp_path))
    rows = {
        row.key: row
        for row in together.run_together([*jobs, bad, plain], setting=setting, workers=1)
    }
    assert fitted == [2, 1], "by shape, the one that fails included"
    assert rows[bad.key].reason.startswith("InputError")
    assert rows[plain.key].is_ok
    for job in jobs:
        saved = read(tmp_path / job.fit_key)
        assert saved is not None
        assert rows[job.key].fit_seconds == saved.fit_seconds, "the worker did not fit again"
        alone = execute(job, Setting(device="cpu"))
        assert rows[job.key].metrics["VUS-PR"] == pytest.approx(alone.metrics["VUS-PR"], abs=0.1)
    list(together.run_together(jobs, setting=setting, workers=1))
    assert fitted == [2, 1], "saved scores are not computed again"


@pytest.mark.usefixtures("in_process")
def test_variants_join_where_their_network_is_the_standard_one(tmp_path, monkeypatch):
    settings = {**make_job().params, "seed": 1}
    scored = make_job(detector="AxonADVariant", params={**settings, "scores": ("d_rec",)})
    trained = make_job(detector="AxonADVariant", params={**settings, "trains": "prediction"})
    fitted = []
    original = together.fit_many

    def spy(detectors, series):
        fitted.extend(detector.scores for detector in detectors)
        return original(detectors, series)

    monkeypatch.setattr(together, "fit_many", spy)
    setting = Setting(device="cpu", scores=str(tmp_path))
    assert all(
        row.is_ok for row in together.run_together([scored, trained], setting=setting, workers=1)
    )
    assert fitted == [("d_rec",)]


@pytest.mark.usefixtures("in_process")
def test_without_a_folder_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(together.tempfile, "tempdir", str(tmp_path))
    (row,) = together.run_together([make_job()], setting=Setting(device="cpu"), workers=1)
    assert row.is_ok
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [{"time_limit": 3.0}, {"memory_limit": 100.0}])
def test_one_of_many_cannot_be_limited(limit):
    with pytest.raises(ConfigError, match="fits many jobs at once and cannot limit one"):
        list(together.run_together([make_job()], setting=Setting(**limit)))


@pytest.mark.usefixtures("in_process")
def test_a_series_is_read_once_and_its_jobs_stay_together(tmp_path, monkeypatch):
    params = make_job().params
    jobs = [make_job(label=f"tail-{k}", params=params | {"tail": k}) for k in (1, 2, 3)]
    jobs.append(make_job(seed=2))
    read_, fitted = [], []
    load, fit_many = together.load, together.fit_many
    monkeypatch.setattr(together, "load", lambda ref: read_.append(ref.name) or load(ref))
    monkeypatch.setattr(
        together,
        "fit_many",
        lambda many, series: fitted.append(len(many)) or fit_many(many, series),
    )
    monkeypatch.setattr(together, "SERIES_AT_ONCE", 1)
    setting = Setting(device="cpu", scores=str(tmp_path))
    assert all(row.is_ok for row in together.run_together(jobs, setting=setting, workers=1))
    names = {job.series.name for job in jobs}
    assert sorted(read_) == sorted(names)
    assert sum(fitted) == 4
    assert len(fitted) == len(names)


@pytest.mark.usefixtures("in_process")
def test_rows_come_group_by_group(monkeypatch):
    params = make_job().params
    settings = [{"lr": lr, "tail": k} for lr in (0.001, 0.002, 0.003) for k in (1, 2)]
    jobs = [make_job(label=str(setting), params=params | setting) for setting in settings]
    fitted, fit_many = [], together.fit_many
    monkeypatch.setattr(
        together, "fit_many", lambda many, X: fitted.append(len(many)) or fit_many(many, X)
    )
    monkeypatch.setattr(together.Team, "ready", together.Team.rest)  # however slow the workers are
    rows = together.run_together(jobs, setting=Setting(device="cpu"), workers=1)
    first = [next(rows), next(rows)]
    assert fitted == [2], "jobs that differ in the tail are one group"
    assert all(row.is_ok for row in first)
    rows.close()
