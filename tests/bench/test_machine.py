from __future__ import annotations

from axonad.bench.machine import thread_environment


def test_waiting_threads_sleep_unless_told_otherwise(monkeypatch):
    assert thread_environment(3)["OMP_NUM_THREADS"] == "3"
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert thread_environment(2)["OMP_WAIT_POLICY"] == "active"
