"""Reconstruction errors of each channel, with weights for the steps of a window.

The paper's error counts all steps of a window alike, so an error anywhere in a window raises the
score at its centre: the score is smeared by half a window. With weights that are high in the middle
the error belongs to the middle, with weights at the end to the last rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from axonad.data.windows import count_windows
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet, Output, run_windows
from axonad.progress import Progress
from axonad.score.terms import query_mismatch

PLACES = ("center", "end")  # of a window, at which it is scored
LAST = 0.2  # share of a window that counts at its end


def last_steps(window: int) -> int:
    """Return how many steps count where the end of a window is scored."""
    return max(1, round(LAST * window))


def step_weights(window: int) -> NDArray[np.float32]:
    """Return weights (2, T) that sum to 1: a Hann window, and the last fifth of the steps.

    >>> step_weights(5).astype(float).round(2).tolist()
    [[0.04, 0.26, 0.4, 0.26, 0.04], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    steps = np.arange(window)
    center = np.sin(np.pi * (steps + 0.5) / window) ** 2
    end = steps >= window - last_steps(window)
    weights = np.stack([center, end.astype(float)])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)


def weighted_errors(output: Output, x: Tensor, weights: Tensor) -> Tensor:
    """Return squared errors (B, K, F) of each channel, averaged over steps with weights (K, T).

    Only the last steps may have been reconstructed: then the weights of the others count nothing.
    """
    steps = output.reconstruction.shape[1]
    return weights[:, -steps:] @ (output.reconstruction - x[:, -steps:]).square()


def end_errors(output: Output, x: Tensor, config: NetConfig) -> Tensor:
    """Return each channel's mean squared error over the last fifth of the steps (F, B)."""
    last = last_steps(config.window)
    return (output.reconstruction[:, -last:] - x[:, -last:]).square().mean(1).T


class Measured(NamedTuple):
    """What is measured of every window of a series."""

    errors: NDArray[np.float32]  # (places, windows, F)
    mismatch: NDArray[np.float64]  # of the queries (windows,)

    @classmethod
    def join(cls, parts: Iterable[Measured]) -> Measured:
        """Return what was measured of several series as that of one."""
        known = list(parts)
        if len(known) == 1:
            return known[0]
        errors = np.concatenate([part.errors for part in known], axis=1)
        return cls(errors, np.concatenate([part.mismatch for part in known]))


@torch.no_grad()
def measure_windows(
    net: AxonNet,
    series: Tensor,
    *,
    batch_size: int,
    progress: Progress,
    places: Sequence[str] = PLACES,
    run: Callable[..., None] = run_windows,
) -> Measured:
    """Return weighted errors at these places and query mismatch of every window of a series (n, F).

    For the end alone, only the steps that count there are reconstructed.
    """
    net.eval()
    chosen = step_weights(net.config.window)[[PLACES.index(place) for place in places]]
    weights = torch.from_numpy(chosen).to(series.device)
    decoded = last_steps(net.config.window) if tuple(places) == ("end",) else None
    windows = count_windows(len(series), net.config.window)
    errors = torch.empty(len(weights), windows, series.shape[1], device=series.device)
    mismatch = torch.empty(windows, device=series.device)

    def consume(first: int, output: Output, x: Tensor) -> None:
        part = slice(first, first + len(x))
        errors[:, part] = weighted_errors(output, x, weights).transpose(0, 1)
        mismatch[part] = query_mismatch(output, x, net.config)
        progress.advance(len(x))

    run(net, series, batch_size=batch_size, consume=consume, decoded=decoded)
    return Measured(errors.cpu().numpy(), mismatch.double().cpu().numpy())
