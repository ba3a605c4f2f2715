"""``axonad paper all``: every experiment, run small. CI runs it by itself (`make unit`)."""

from __future__ import annotations

import pytest

from axonad.cli.paper.suite_experiments import SUITE_EXPERIMENTS


@pytest.mark.slow
def test_every_experiment_run_small(run, tmp_path):
    code, out, _ = run("paper", "all", "--small", "--device", "cpu", "--out", "smoke")
    assert code == 0
    for name in (
        *(experiment.name for experiment in SUITE_EXPERIMENTS),
        "diagnostics",
        "diagnostics-as-run",
        "transfer",
    ):
        made = {path.suffix for path in (tmp_path / "smoke" / name).iterdir()}
        assert {".md", ".tex", ".csv"} <= made, name
    assert "  no " not in out, "a small run gives every table and figure"


def test_missing_data_stop_everything_before_it_begins(run, tmp_path):
    code, _, err = run("paper", "all", "--data", tmp_path / "none.zip", "--out", "x")
    assert code == 2
    assert "none.zip" in err
    assert not (tmp_path / "x").exists()
