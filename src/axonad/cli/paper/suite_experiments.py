"""The paper's experiments that run a suite, each a command: its tables and its figures."""

from __future__ import annotations

from functools import partial

from axonad.cli.paper.experiment import Experiment
from axonad.paper.figures.ablation import draw_ablation
from axonad.paper.figures.pairs import draw_paper_pairs
from axonad.paper.figures.runtime import draw_paper_runtime
from axonad.paper.figures.sensitivity import draw_sensitivity
from axonad.paper.figures.split import draw_split
from axonad.paper.figures.tuning import draw_tuning
from axonad.paper.tables.ablation import ablation_table
from axonad.paper.tables.pairs import RANGE, RANKING, paper_pairs_table
from axonad.paper.tables.runtime import paper_runtime_table
from axonad.paper.tables.scores import (
    one_drive_paper_table,
    telemetry_paper_table,
    tsb_ad_paper_table,
)
from axonad.paper.tables.sensitivity import sensitivity_table
from axonad.paper.tables.split import split_table
from axonad.paper.tables.tuning import (
    choices_table,
    effects_table,
    settings_table,
    tuning_table,
)

PROTOCOLS = ("parity", "causal")  # under which Table 2 is run

# Ours, another network, two classical detectors, and one the paper does not have.
SMALL_DETECTORS = ("AxonAD", "USAD", "PCA", "IForest", "CrossChannelRidge")

# Two values of a parameter that training depends on, and of one that only scoring depends on.
SMALL_SETTINGS = tuple(
    f"T {window}, D 128, 8 heads, lr 0.0005, k {tail}, s 1"
    for window in (50, 100)
    for tail in (3, 10)
)

SUITE_EXPERIMENTS = (
    Experiment(
        name="table1",
        suite="telemetry",
        summary="Run all detectors on simulated telemetry; compare the paper's table with ours.",
        table=telemetry_paper_table,
        more_tables={"split": split_table},
        figures={"split": draw_split},
        small_detectors=SMALL_DETECTORS,
        needs_data=False,
    ),
    Experiment(
        name="table1-seeds",
        suite="telemetry-seeds",
        summary="Fit all detectors on one simulated drive with four seeds; compare Table 1.",
        table=one_drive_paper_table,
        small_detectors=SMALL_DETECTORS,
        needs_data=False,
    ),
    Experiment(
        name="table2",
        suite="tsb-ad-m",
        summary="Run all detectors on TSB-AD's evaluation series; compare the paper's table with "
        "ours.",
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
    ),
    Experiment(  # where the paper's text and its runs differ, both readings are in the suite
        name="ablation",
        suite="paper-ablation",
        summary="Run every ablation; compare the paper's table with ours.",
        table=ablation_table,
        figures={"ablation": draw_ablation},
    ),
    Experiment(
        name="sensitivity",
        suite="paper-sensitivity",
        summary="Vary horizon, tail and window one at a time; compare the paper's curves with "
        "ours.",
        table=sensitivity_table,
        figures={"sensitivity": draw_sensitivity},
    ),
    Experiment(
        name="tuning",
        suite="paper-tuning",
        summary="Run the grid from which the authors chose their setting; rank it, and see how "
        "stable the choice is.",
        table=tuning_table,
        more_tables={
            "settings": settings_table,
            "effects": effects_table,
            "choices": choices_table,
        },
        figures={"tuning": draw_tuning},
        small_detectors=SMALL_SETTINGS,
    ),
    Experiment(
        name="runtime",
        suite="paper-runtime",
        summary="Time five detectors on one stream; compare the paper's ratios with ours.",
        table=paper_runtime_table,
        figures={"runtime": draw_paper_runtime},
        workers=1,  # parallel jobs would slow each other
        needs_data=False,
    ),
)
