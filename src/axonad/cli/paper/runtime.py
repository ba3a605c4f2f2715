"""``axonad paper runtime``: what five detectors cost on one stream, one job at a time."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.runtime import draw_paper_runtime
from axonad.paper.tables.runtime import paper_runtime_table

RUNTIME = Experiment(
    suite="paper-runtime",
    name="runtime",
    summary="Time five detectors on one stream; the paper's ratios beside ours.",
    table=paper_runtime_table,
    figures={"runtime": draw_paper_runtime},
    workers=1,
    generated=True,
)
