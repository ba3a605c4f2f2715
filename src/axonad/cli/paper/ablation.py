"""``axonad paper ablation``: Table 3, where text and runs differ both meanings of it."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.report.ablation import ablation_table
from axonad.report.ablation_figure import draw_ablation

ABLATION = Experiment(
    suite="paper-ablation",
    name="ablation",
    summary="Run every ablation and show the paper's table beside ours.",
    table=ablation_table,
    figures={"ablation": lambda path, rows: draw_ablation(path, rows=rows)},
)
