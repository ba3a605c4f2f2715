"""A small suite and small results for the tests of ``axonad bench``."""

from __future__ import annotations

from axonad.bench.results import Results
from axonad.bench.row import METRIC_NAMES
from tests.bench.jobs import make_row

SMOKE = """
    name = "smoke"
    seeds = [1, 2]

    [data]
    source = "telemetry"
    steps = 2000

    [protocols.causal]
    window = 20

    [[detectors]]
    name = "AxonAD"
    params = { window = 16, d_model = 16, heads = 2, tail = 4, epochs = 1 }

    [[detectors]]
    name = "CrossChannelRidge"

    [[detectors]]
    name = "RandomScore"
"""

FILES = """
    name = "files"
    seeds = [1]

    [data]
    source = "files"
    path = "x"

    [protocols.parity]
    [protocols.causal]

    [[detectors]]
    name = "CrossChannelRidge"

    [[detectors]]
    name = "RandomScore"

    [[detectors]]
    name = "PCA"
"""


def make_results(folder, values):
    """Write rows of two detectors: a dict label -> values per series."""
    with Results(folder) as results:
        for label, numbers in values.items():
            for i, value in enumerate(numbers):
                results.append(
                    make_row(
                        key=f"{label}{i}", label=label, series=f"s{i}.csv", dataset=f"set{i % 2}",
                        split="eval", metrics=dict.fromkeys(METRIC_NAMES, float(value)),
                    )
                )  # fmt: skip
    return folder
