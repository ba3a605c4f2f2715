"""The terms of the score: each a function of a batch of windows, named in one table.

A new term is one function and one line in TERMS; standardisation, combination, ``components`` and
the explanation need no change. Terms receive the reconstruction of the whole window and the
queries of its last ``scored_steps`` steps only, since the others are not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cosine_similarity

from axonad.data.windows import count_windows
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet, Output, run_windows
from axonad.progress import Progress

EPS = 1e-12  # lower bound of a query's norm, as in training


def reconstruction_error(output: Output, x: Tensor, config: NetConfig) -> Tensor:
    """Return d_rec (B,): squared error summed over channels, averaged over steps."""  # Eq. 1
    return (output.reconstruction - x).square().sum(-1).mean(-1)


def query_mismatch(output: Output, x: Tensor, config: NetConfig) -> Tensor:
    """Return d_q (B,): 1 - cos(q̂, q*) averaged over heads and the last k steps."""  # Eq. 4
    last = config.scored_steps
    predicted, target = output.predicted[:, :, -last:], output.target[:, :, -last:]
    # Average 1 - cos, not cos: averaging cosines near 1 would round their differences away.
    return (1 - cosine_similarity(predicted, target, dim=-1, eps=EPS)).mean((1, 2))


Term = Callable[[Output, Tensor, NetConfig], Tensor]
TERMS: dict[str, Term] = {
    "d_rec": reconstruction_error,
    "d_q": query_mismatch,
}


def without_channels(table: Mapping[str, Term], channels: Sequence[int]) -> Mapping[str, Term]:
    """Return the terms without the reconstruction errors of some channels."""
    if len(channels) == 0 or "d_rec" not in table:
        return table

    def error(output: Output, x: Tensor, config: NetConfig) -> Tensor:
        squares = (output.reconstruction - x).square()
        for channel in channels:
            squares[..., channel] = 0
        return squares.sum(-1).mean(-1)

    return {**table, "d_rec": error}


class WindowTerms(NamedTuple):
    """Terms of every window and, if requested, each channel's mean squared reconstruction error."""

    terms: dict[str, NDArray[np.float64]]  # name → (windows,)
    channels: NDArray[np.float32]  # (windows, F), or (0, F)

    @classmethod
    def join(cls, parts: Iterable[WindowTerms]) -> WindowTerms:
        """Return the terms of several series as those of one."""
        known = list(parts)
        if len(known) == 1:
            return known[0]
        terms = {
            name: np.concatenate([part.terms[name] for part in known]) for name in known[0].terms
        }
        return cls(terms, np.concatenate([part.channels for part in known]))


@torch.no_grad()
def compute_terms(
    net: AxonNet,
    series: Tensor,
    *,
    batch_size: int,
    progress: Progress,
    channels: bool = False,
    table: Mapping[str, Term] = TERMS,
    run: Callable[..., None] = run_windows,
) -> WindowTerms:
    """Return every term of the table for every window of a series (n, F).

    ``run`` computes the forward passes; ``fast.choose.run_windows`` is the fast one.
    """
    net.eval()
    windows = count_windows(len(series), net.config.window)
    # Allocated before the loop: small results kept between large temporaries would fragment the
    # allocator's memory, which would then grow with the length of the series.
    terms = {name: torch.empty(windows, device=series.device) for name in table}
    errors = torch.empty(windows if channels else 0, series.shape[1], device=series.device)

    def consume(first: int, output: Output, x: Tensor) -> None:
        part = slice(first, first + len(x))
        for name, term in table.items():
            terms[name][part] = term(output, x, net.config)
        if channels:
            errors[part] = (output.reconstruction - x).square().mean(1)
        progress.advance(len(x))

    run(net, series, batch_size=batch_size, consume=consume)
    found = {name: values.double().cpu().numpy() for name, values in terms.items()}
    return WindowTerms(found, errors.cpu().numpy())
