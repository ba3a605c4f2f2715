"""``score_tails``: score a series by detectors with the same weights, in one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from axonad.axon import SCORE_BATCH, AxonAD
from axonad.data.frames import Matrix
from axonad.data.windows import count_windows, spread
from axonad.fast.choose import run_windows
from axonad.model.config import NetConfig
from axonad.model.net import Output
from axonad.progress import Progress
from axonad.score.standardise import combine
from axonad.score.terms import (
    Term,
    compute_terms,
    query_mismatch,
    reconstruction_error,
    without_channels,
)
from axonad.torch_runtime.device import resolve_device

Scored = tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]


def score_tails(detectors: Sequence[AxonAD], X: Matrix) -> list[Scored]:
    """Return scores and components of each detector, as its ``explain`` does.

    The detectors must be fitted and differ in nothing but ``tail``: :func:`axonad.fit_many` trains
    such detectors once. X must be finite, and have no gaps in time.
    """
    X = detectors[0].in_context(X)
    longest = max(detectors, key=lambda detector: detector.tail)
    device = resolve_device(longest.device)
    error = without_channels({"d_rec": reconstruction_error}, longest.context_columns)
    table: dict[str, Term] = dict(error)
    table |= {str(detector.tail): _mismatch(detector.tail) for detector in detectors}
    windows = count_windows(len(X), longest.window)
    with Progress("scoring", windows, show=False) as progress:
        found = compute_terms(
            longest.net_.to(device), longest.scaled(X, device), batch_size=SCORE_BATCH,
            progress=progress, table=table, run=run_windows,
        ).terms  # fmt: skip
    return [
        _standardise(each, {"d_rec": found["d_rec"], "d_q": found[str(each.tail)]})
        for each in detectors
    ]


def _mismatch(tail: int) -> Term:
    """Return the query mismatch over the last ``tail`` steps."""

    def term(output: Output, x: Tensor, config: NetConfig) -> Tensor:
        return query_mismatch(output, x, replace(config, tail=tail))

    return term


def _standardise(detector: AxonAD, terms: dict[str, NDArray[np.float64]]) -> Scored:
    """Return score and components by step, given the raw terms of the windows."""
    components = {
        name: spread(
            detector.scales_[name].apply(values), window=detector.window, align=detector.align
        )
        for name, values in terms.items()
    }
    return combine(components), components
