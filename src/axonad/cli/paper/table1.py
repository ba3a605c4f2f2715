"""``axonad paper table1``: the telemetry table, and the split of the streams it is made on."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.split import draw_split
from axonad.paper.tables.scores import telemetry_paper_table
from axonad.paper.tables.split import split_table

FEW = ("AxonAD", "USAD", "PCA", "IForest", "CrossChannelRidge")
"""A miniature's detectors: ours, a network, two classical ones, one the paper does not have."""

TABLE1 = Experiment(
    suite="telemetry",
    name="table1",
    summary="Run all detectors on generated telemetry; the paper's table beside ours.",
    table=telemetry_paper_table,
    more={"split": split_table},
    figures={"split": draw_split},
    few=FEW,
    generated=True,
)
