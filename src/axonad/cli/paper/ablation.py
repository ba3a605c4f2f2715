"""``axonad paper ablation``: Table 3, where text and runs differ both meanings of it."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.ablation import draw_ablation
from axonad.paper.tables.ablation import ablation_table

ABLATION = Experiment(
    suite="paper-ablation",
    name="ablation",
    summary="Run every ablation and show the paper's table beside ours.",
    table=ablation_table,
    figures={"ablation": lambda path, rows: draw_ablation(path, rows=rows)},
)
