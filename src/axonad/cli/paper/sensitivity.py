"""``axonad paper sensitivity``: vary horizon, tail and window, one at a time."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.tables.sensitivity import draw_sensitivity, sensitivity_table

SENSITIVITY = Experiment(
    suite="paper-sensitivity",
    name="sensitivity",
    summary="Run the parameter sweeps; compare the paper's curves with ours.",
    table=sensitivity_table,
    figures={"sensitivity": draw_sensitivity},
)
