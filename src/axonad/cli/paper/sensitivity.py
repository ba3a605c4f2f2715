"""``axonad paper sensitivity``: horizon, tail and window, one at a time, with a band over seeds."""

from __future__ import annotations

from axonad.cli.bench.options import (
    Address,
    Data,
    Detectors,
    Device,
    Engine,
    Out,
    RetryFailed,
    Seeds,
    SeriesParts,
    Workers,
)
from axonad.cli.paper.experiment import Choice, Experiment, Small
from axonad.report.sensitivity import draw_sensitivity, sensitivity_table

SENSITIVITY = Experiment(
    suite="paper-sensitivity",
    name="sensitivity",
    table=sensitivity_table,
    figures={"sensitivity": lambda path, rows: draw_sensitivity(path, rows=rows)},
)


def sensitivity(
    target: Out = None,
    data: Data = None,
    detectors: Detectors = None,
    series: SeriesParts = None,
    seeds: Seeds = None,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    device: Device = None,
    retry_failed: RetryFailed = False,
    small: Small = False,
) -> None:
    """Run the sweeps and show the paper's curves beside ours."""
    SENSITIVITY.run(
        Choice(
            target=target, data=data, detectors=detectors, series=series, seeds=seeds,
            engine=engine, address=address, workers=workers, device=device,
            retry_failed=retry_failed, small=small,
        )
    )  # fmt: skip
