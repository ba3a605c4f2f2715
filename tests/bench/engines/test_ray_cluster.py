"""Ray: the same rows as the local engine, also when a machine of the cluster is lost."""

from __future__ import annotations

import os

import psutil
import pytest
import ray

from axonad.bench.engines import ray_cluster
from axonad.bench.engines.local import run_locally
from axonad.bench.engines.ray_cluster import run_on_ray
from axonad.bench.execute import Setting
from axonad.bench.suite import read_suite
from axonad.errors import ConfigError
from tests.bench.jobs import LONG, SUITE, make_job, steady, worker_processes, write_suite

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray's own warnings


@pytest.fixture(scope="module", autouse=True)
def quiet():
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


def test_three_machines_give_the_rows_of_one_also_when_one_is_lost(cluster, tmp_path):
    lost = cluster.add_node(num_cpus=1)
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    seeds = SUITE.replace("[1, 2]", str(list(range(1, 13))))
    jobs = read_suite(write_suite(tmp_path, seeds)).jobs()
    expected = steady(run_locally(jobs, workers=2))
    rows = run_on_ray(jobs, workers=3)
    found = [next(rows), next(rows)]
    cluster.remove_node(lost)  # in the middle, with a job on it
    found += list(rows)
    assert len(found) == len(jobs)
    assert all(row.is_ok for row in found)
    assert steady(found) == expected
    alive = [node for node in ray.nodes() if node["Alive"]]
    assert len(alive) == 2


def test_a_lost_job_runs_again_and_is_given_up_after_three(cluster, monkeypatch):
    """A job that takes its machine down each time becomes a row, not an endless loop."""
    tries = []

    class Deadly(ray_cluster.Actor):
        def run_job(self, job, series):
            os._exit(1)

    monkeypatch.setattr(ray_cluster, "Actor", Deadly)
    forget = ray_cluster.ActorPool._receive

    def count(self, answer):
        tries.append(answer)
        return forget(self, answer)

    monkeypatch.setattr(ray_cluster.ActorPool, "_receive", count)
    (row,) = run_on_ray([make_job()], workers=1)
    assert (row.status, len(tries)) == ("failed", 3)
    assert row.reason.startswith("lost with its machine 3 times")


def test_actors_that_cannot_start_end_the_run_with_a_reason(cluster, monkeypatch):
    class Unborn(ray_cluster.Actor):
        def __init__(self, setting, threads):
            raise ImportError("no axonad here")

    monkeypatch.setattr(ray_cluster, "Actor", Unborn)
    with pytest.raises(ConfigError, match=r"3 Ray actors in a row could not start.*no axonad here"):
        list(run_on_ray([make_job()], workers=1))


def test_limits_and_unreadable_series_are_rows(cluster, tmp_path):
    from axonad.bench.sources import SeriesRef

    gone = make_job(
        series=SeriesRef(source="files", name="002_MSL_id_1_S_tr_2_1st_3.csv", dataset="MSL",
                         location=str(tmp_path / "none"))
    )  # fmt: skip
    rows = list(run_on_ray([LONG, gone], workers=1, setting=Setting(time_limit=1)))
    assert sorted(row.status for row in rows) == ["failed", "timeout"]


def test_smoke_suite_on_ray_of_its_own(tmp_path, monkeypatch):
    """What ``axonad bench run smoke --engine ray`` does: Ray starts and ends with the run."""
    from axonad.bench.results import read_rows
    from axonad.cli import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["bench", "run", "smoke", "--engine", "ray", "--workers", "2", "--out", "there"])
    assert caught.value.code == 0
    assert not ray.is_initialized()
    rows = read_rows("there")
    assert len(rows) == 6
    assert steady(rows) == steady(run_locally(read_suite("smoke").jobs(), workers=2))


def test_closing_ends_the_actors_and_their_workers(cluster):
    rows = run_on_ray([make_job(), LONG], workers=1)
    assert next(rows).is_ok
    busy = worker_processes()
    assert busy, "the long job is still to run in the actor's worker"
    rows.close()
    _, alive = psutil.wait_procs(busy, timeout=60)
    assert not alive
