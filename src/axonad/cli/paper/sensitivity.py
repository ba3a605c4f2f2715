"""``axonad paper sensitivity``: horizon, tail and window, one at a time, with a band over seeds."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.sensitivity import draw_sensitivity
from axonad.paper.tables.sensitivity import sensitivity_table

SENSITIVITY = Experiment(
    suite="paper-sensitivity",
    name="sensitivity",
    summary="Run the sweeps and show the paper's curves beside ours.",
    table=sensitivity_table,
    figures={"sensitivity": lambda path, rows: draw_sensitivity(path, rows=rows)},
)
