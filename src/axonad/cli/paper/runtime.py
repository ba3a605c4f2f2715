"""``axonad paper runtime``: time of five detectors on one stream, one job at a time."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.tables.runtime import draw_paper_runtime, paper_runtime_table

RUNTIME = Experiment(
    suite="paper-runtime",
    name="runtime",
    summary="Time five detectors on one stream; compare the paper's ratios with ours.",
    table=paper_runtime_table,
    figures={"runtime": draw_paper_runtime},
    workers=1,
    needs_data=False,
)
