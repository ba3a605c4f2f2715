from __future__ import annotations

from axonad.bench import machine
from axonad.cores import thread_environment


def test_waiting_threads_sleep_unless_told_otherwise(monkeypatch):
    assert thread_environment(3)["OMP_NUM_THREADS"] == "3"
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "active"


def test_git_is_asked_without_taking_locks(tmp_path, monkeypatch):
    asked = []

    def run(command, **options):
        asked.append(command)
        return machine.subprocess.CompletedProcess(command, 0, stdout="abc\n")

    monkeypatch.setattr(machine.subprocess, "run", run)
    assert machine._git(tmp_path, "status") == "abc"
    assert asked[0][:2] == ["git", "--no-optional-locks"]
