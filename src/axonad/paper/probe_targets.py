"""What a trained network's queries, keys, values and hidden state are worth as things to predict.

The network is frozen. For each quantity a new predictor, the same as the network's own, learns to
predict it from the past, and its error on a window, 1 - cos averaged over heads and the last k
steps, is an anomaly score. Everything but the predicted quantity is equal: architecture, windows,
batches, loss and optimiser. The hidden state H is one vector of full width, not one per head.

The authors' script trains predictors for keys, values and hidden state this way (six epochs, at
most 3,000 normal training windows) and compares them with the network's own query predictor, which
was trained with the network. The new query predictor, ours, makes the comparison equal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from axonad.axon import SCORE_BATCH, AxonAD
from axonad.data.frames import Matrix
from axonad.model.embedding import split_heads
from axonad.model.loss import query_distance
from axonad.model.net import AxonNet
from axonad.model.predictor import QueryPredictor
from axonad.paper.probe import prepare_probe
from axonad.torch_runtime.seed import seeded
from axonad.torch_runtime.switches import learning
from axonad.torch_runtime.threads import one_thread
from axonad.torch_runtime.windows import gather_windows

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Predictors = dict[str, QueryPredictor]
HEADED = ("queries", "keys", "values")  # one vector per head
EPOCHS = 6
BATCH = 256
LR = 5e-4
WEIGHT_DECAY = 1e-5


@learning()
def probe_targets(
    detector: AxonAD, X: Matrix, starts: Places, *, learned: Places, seed: int
) -> dict[str, Array]:
    """Return the predictors' errors (windows,) by quantity, of windows that begin at ``starts``.

    The predictors are trained on the windows ``starts[learned]``.
    """
    net, series = prepare_probe(detector, X)
    first = torch.as_tensor(starts, device=series.device)
    with one_thread(), seeded(seed, series.device):
        predictors = _train(net, series, first[torch.as_tensor(learned, device=series.device)])
    parts = []
    with one_thread(), torch.no_grad():
        for batch in torch.split(first, SCORE_BATCH):
            parts.append(_errors(net, predictors, gather_windows(series, batch, detector.window)))
    return {
        name: torch.cat([part[name] for part in parts]).double().cpu().numpy()
        for name in predictors
    }


def _train(net: AxonNet, series: Tensor, starts: Tensor) -> Predictors:
    """Return trained predictors; they share no weight, so one optimiser trains each by itself."""
    own = net.config
    predictors = {name: QueryPredictor(own).to(series.device) for name in HEADED}
    predictors["hidden"] = QueryPredictor(replace(own, heads=1)).to(series.device)
    weights = [weight for each in predictors.values() for weight in each.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=LR, weight_decay=WEIGHT_DECAY)
    for _ in range(EPOCHS):
        for places in torch.split(torch.randperm(len(starts)), BATCH):
            x = gather_windows(series, starts[places.to(series.device)], own.window)
            losses = [error.mean() for error in _errors(net, predictors, x).values()]
            optimiser.zero_grad(set_to_none=True)
            torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return {name: each.eval() for name, each in predictors.items()}


def _errors(net: AxonNet, predictors: Predictors, x: Tensor) -> dict[str, Tensor]:
    """Return the error of every predictor on windows (B, T, F): name → (B,)."""
    heads, last = net.config.heads, net.config.scored_steps
    with torch.no_grad():
        _, H, queries = net.online(x)
        targets = {
            "queries": queries,
            "keys": split_heads(net.attention.key(H), heads),
            "values": split_heads(net.attention.value(H), heads),
            "hidden": split_heads(H, 1),
        }
    return {
        name: query_distance(predictors[name](H, last), target[:, :, -last:]).mean(1)
        for name, target in targets.items()
    }
