"""The cores that a process may use, and what keeps libraries to them."""

import json
import os
import subprocess
import sys

import pytest

from axonad import cores
from axonad.cores import cpu_quota, limit_threads, thread_environment, usable_cores


def groups(tmp_path, files, own="0::/\n"):
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "own").write_text(own)
    return tmp_path / "groups", tmp_path / "own"


@pytest.mark.parametrize(
    ("files", "own", "quota"),
    [
        ({}, "0::/\n", None),
        ({"cpu.max": "max 100000\n"}, "0::/\n", None),
        ({"cpu.max": "150000 100000\n"}, "0::/\n", 1.5),
        ({"a/cpu.max": "50000 100000", "a/b/cpu.max": "200000 100000"}, "0::/a/b\n", 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "3:cpu:/\n", None),
        (
            {"cpu/x/cpu.cfs_quota_us": "300000", "cpu/x/cpu.cfs_period_us": "100000"},
            "2:memory:/y\n3:cpu,cpuacct:/x\n", 3.0,
        ),
        ({"cpu.max": "damaged"}, "0::/\n", None),
    ],
)  # fmt: skip
def test_the_quota_of_a_container_is_read(tmp_path, files, own, quota):
    assert cpu_quota(*groups(tmp_path, files, own)) == quota


def test_fewer_cores_than_the_machine_has(monkeypatch):
    monkeypatch.setattr(cores, "cpu_quota", lambda: 0.5)
    assert usable_cores() == 1
    monkeypatch.setattr(cores, "cpu_quota", lambda: 1000.0)
    assert usable_cores() == len(os.sched_getaffinity(0))


def test_threads_are_limited_by_a_quota_unless_somebody_has_said_otherwise(monkeypatch):
    monkeypatch.setattr(os, "environ", {"OPENBLAS_NUM_THREADS": "7"})
    monkeypatch.setattr(cores, "cpu_quota", lambda: 1.0)
    limit_threads()
    assert os.environ == thread_environment(1) | {"OPENBLAS_NUM_THREADS": "7"}
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(cores, "cpu_quota", lambda: None)
    limit_threads()
    assert os.environ == {"OMP_WAIT_POLICY": "passive"}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_command_uses_no_more_threads_than_its_affinity():
    code = "import os, runpy; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); import sys;"
    code += (
        "sys.argv = ['axonad', 'doctor', '--json']; runpy.run_module('axonad', run_name='__main__')"
    )
    known = {k: v for k, v in os.environ.items() if k not in cores.THREAD_VARIABLES}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, env=known, check=False
    )
    facts = json.loads(done.stdout)
    assert facts["cpu"]["usable_cores"] == 1
    assert facts["torch"]["threads"] == 1
