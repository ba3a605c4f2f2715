"""``axonad paper table1``: the table on simulated telemetry, and the split of its streams."""

from __future__ import annotations

from axonad.cli.paper.experiment import Experiment
from axonad.paper.tables.scores import telemetry_paper_table
from axonad.paper.tables.split import draw_split, split_table

SMALL_DETECTORS = ("AxonAD", "USAD", "PCA", "IForest", "CrossChannelRidge")
"""Ours, another network, two classical detectors, and one the paper does not have."""

TABLE1 = Experiment(
    suite="telemetry",
    name="table1",
    summary="Run all detectors on simulated telemetry; compare the paper's table with ours.",
    table=telemetry_paper_table,
    more_tables={"split": split_table},
    figures={"split": draw_split},
    small_detectors=SMALL_DETECTORS,
    needs_data=False,
)
