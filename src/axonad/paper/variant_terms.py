"""The terms of the score in the paper's ablations, by name.

``d_q`` always compares queries; ``d_pred`` compares whatever the variant predicts. ``d_kl`` is the
divergence KL(attention ‖ attention of the predicted queries) on the last k steps, over keys up to
τ - s. Its temperature is learned in variants that predict attention maps, and 1 in all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads
from axonad.model.net import AxonNet, Output
from axonad.paper.variant_net import VariantNet, log_map, map_divergence, mismatch
from axonad.score.terms import TERMS, Term, query_mismatch


def variant_terms(names: Sequence[str], net: AxonNet) -> dict[str, Term]:
    """Return the terms with these names for a network."""
    return {name: VARIANT_TERMS[name](net) for name in names}


def squared_mismatch(output: Output, x: Tensor, config: NetConfig) -> Tensor:
    """Return (B,): squared distance of q̂ and q* per entry, averaged like d_q."""
    last = config.scored_steps
    return (output.predicted[:, :, -last:] - output.target[:, :, -last:]).square().mean((1, 2, 3))


def _predicted_mismatch(net: AxonNet) -> Term:
    def term(output: Output, x: Tensor, config: NetConfig) -> Tensor:
        return mismatch(output, config)[:, -config.scored_steps :].mean(1)

    return term


def _of_queries(net: AxonNet, term: Term) -> Term:
    """Return the term computed on queries, also for variants that predict something else."""
    if not isinstance(net, VariantNet):
        return term

    def of_queries(output: Output, x: Tensor, config: NetConfig) -> Tensor:
        queries = net.queries(x, config.scored_steps)
        return term(Output(output.reconstruction, *queries), x, config)

    return of_queries


def _tail_divergence(net: AxonNet) -> Term:
    def term(output: Output, x: Tensor, config: NetConfig) -> Tensor:
        last = config.scored_steps
        _, H, q = net.online(x)
        keys = split_heads(net.attention.key(H), config.heads)
        target = log_map(q[:, :, -last:], keys, horizon=config.horizon)
        predicted = log_map(
            output.predicted[:, :, -last:],
            keys,
            horizon=config.horizon,
            temperature=net.temperature() if isinstance(net, VariantNet) else None,
        )
        return map_divergence(predicted, target).mean(1)

    return _of_queries(net, term)


VARIANT_TERMS: dict[str, Callable[[AxonNet], Term]] = {
    "d_rec": lambda net: TERMS["d_rec"],
    "d_q": lambda net: _of_queries(net, query_mismatch),
    "d_q_mse": lambda net: _of_queries(net, squared_mismatch),
    "d_kl": _tail_divergence,
    "d_pred": _predicted_mismatch,
}
