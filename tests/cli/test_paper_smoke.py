"""``make paper-smoke``: a miniature of every experiment of the paper. CI runs it by itself."""

from __future__ import annotations

import time

import pytest

from axonad.cli.paper.every import EXPERIMENTS
from tests.cli.test_cli import run  # noqa: F401 - a fixture

LIMIT = 300  # seconds, on two cores


@pytest.mark.slow
def test_every_experiment_in_miniature(run, tmp_path):  # noqa: F811
    started = time.perf_counter()
    code, out, _ = run("paper", "all", "--small", "--device", "cpu", "--out", "smoke")
    assert code == 0
    assert time.perf_counter() - started < LIMIT
    for experiment in EXPERIMENTS:
        made = {path.suffix for path in (tmp_path / "smoke" / experiment.name).iterdir()}
        assert {".md", ".tex", ".csv"} <= made, experiment.name
    assert "  no " not in out, "a miniature gives every table and figure"
