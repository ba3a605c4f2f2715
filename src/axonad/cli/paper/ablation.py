"""``axonad paper ablation``: Table 3, where text and runs differ both meanings of it."""

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
from axonad.report.ablation import ablation_table

ABLATION = Experiment(suite="paper-ablation", name="ablation", table=ablation_table)


def ablation(
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
    """Run every ablation and show the paper's table beside ours."""
    ABLATION.run(
        Choice(
            target=target, data=data, detectors=detectors, series=series, seeds=seeds,
            engine=engine, address=address, workers=workers, device=device,
            retry_failed=retry_failed, small=small,
        )
    )  # fmt: skip
