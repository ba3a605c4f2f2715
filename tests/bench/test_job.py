from __future__ import annotations

import pytest

from axonad.bench.execute import execute
from axonad.bench.sources import load
from axonad.bench.suite import read_suite
from axonad.errors import ConfigError
from tests.bench.jobs import SUITE, make_job, write_suite


def test_a_job_is_named_by_what_decides_its_row(tmp_path):
    path = write_suite(tmp_path)
    first = read_suite(path).jobs()[0]
    assert read_suite(path).jobs()[0].key == first.key
    write_suite(tmp_path, SUITE.replace("window = 20", "window = 30"))
    wider = read_suite(path).jobs()[0]
    assert wider.key != first.key
    assert wider.fit_key == first.fit_key, "the scores are the same"
    write_suite(tmp_path, SUITE.replace("epochs = 1", "epochs = 2"))
    assert read_suite(path).jobs()[0].fit_key != first.fit_key
    write_suite(tmp_path, SUITE.replace("epochs = 1", 'epochs = 1, device = "cpu"'))
    assert read_suite(path).jobs()[0].key == first.key, "where it runs does not count"


def test_a_parameter_that_came_later_leaves_jobs_as_they_were():
    made = make_job(detector="RandomScore", params={"seed": 1})
    neutral = make_job(detector="RandomScore", params={"seed": 1, "epoch_windows": None})
    other = make_job(detector="RandomScore", params={"seed": 1, "epoch_windows": 8192})
    assert made.key == neutral.key != other.key
    assert made.fit_key == neutral.fit_key != other.fit_key


def test_what_looks_into_the_future_does_not_run_as_causal():
    job = make_job(params=make_job().params | {"scaling": "array"})
    with pytest.raises(ConfigError, match="not causal; run it under protocol parity"):
        job.make_detector()


@pytest.mark.parametrize(
    ("protocol", "first"), [("parity", 0), ("leaderboard", 0), ("heldout", 1000), ("causal", 1000)]
)
def test_the_protocol_says_which_steps_of_a_drive_are_scored(tmp_path, protocol, first):
    path = write_suite(tmp_path, SUITE.replace("[protocols.causal]", f"[protocols.{protocol}]"))
    job = read_suite(path).jobs()[0]
    drive = load(job.series)
    series = job.divide(drive)
    assert (series.train_steps, series.scored_from) == (1000, first)
    assert series.fingerprint == drive.fingerprint, "the content is the same"
    assert execute(job).scored_from == first


def test_one_drive_can_be_fitted_with_several_seeds(tmp_path):
    path = write_suite(tmp_path, SUITE.replace("steps = 2000", "steps = 2000\n    drive = 7"))
    first, second = read_suite(path).jobs(seeds=[1, 2])
    assert first.series == second.series
    assert first.series.name == "telemetry-7"
    assert (first.params["seed"], second.params["seed"]) == (1, 2)
