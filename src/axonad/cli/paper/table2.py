"""``axonad paper table2``: the TSB-AD table; Tables S3 and S4 and Figure 5 by protocol."""

from __future__ import annotations

from functools import partial

from axonad.bench.row import PROTOCOLS
from axonad.cli.paper.experiment import Experiment
from axonad.cli.paper.table1 import SMALL_DETECTORS
from axonad.paper.tables.pairs import RANGE, RANKING, draw_paper_pairs, paper_pairs_table
from axonad.paper.tables.scores import tsb_ad_paper_table

TABLE2 = Experiment(
    suite="tsb-ad-m",
    name="table2",
    summary="Run all detectors on TSB-AD's evaluation series; compare the paper's table with ours.",
    table=tsb_ad_paper_table,
    more_tables={
        f"{name}-{protocol}": partial(paper_pairs_table, metrics=metrics, protocol=protocol)
        for name, metrics in (("table-s3", RANKING), ("table-s4", RANGE))
        for protocol in PROTOCOLS
    },
    figures={
        f"figure5-{protocol}": partial(draw_paper_pairs, protocol=protocol)
        for protocol in PROTOCOLS
    },
    split="eval",
    small_detectors=SMALL_DETECTORS,
)
