"""``axonad bench suites``."""

from __future__ import annotations


def test_suites_are_listed(run):
    code, out, _ = run("bench", "suites")
    assert code == 0
    for name in ("tsb-ad-m", "telemetry", "coordination", "server-metrics", "smoke"):
        assert name in out
