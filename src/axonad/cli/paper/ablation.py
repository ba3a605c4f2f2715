"""``axonad paper ablation``: Table 3.

Where the paper's text and its runs differ, both readings are run.
"""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.ablation import draw_ablation
from axonad.paper.tables.ablation import ablation_table

ABLATION = Experiment(
    suite="paper-ablation",
    name="ablation",
    summary="Run every ablation; compare the paper's table with ours.",
    table=ablation_table,
    figures={"ablation": draw_ablation},
)
